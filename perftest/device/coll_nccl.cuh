/* SPDX-License-Identifier: BSD-3-Clause */
/* NCCL under the names by which collectives calls a library, on streams and in graphs alone. */
#ifndef PERFTEST_DEVICE_COLL_NCCL_CUH
#define PERFTEST_DEVICE_COLL_NCCL_CUH

#include "perftest/device/nccl.cuh"

extern "C" {
#include "perftest/device/coll.h"
}

static ncclResult_t perf_nccl_alltoall(char *to, const char *from, size_t n, int kind,
                                       cudaStream_t stream)
{
    size_t width = coll_width(kind);
    ncclDataType_t type = width == 4 ? ncclInt32 : ncclInt64;

#if NCCL_VERSION_CODE >= 22800
    if (perf_nccl.native && kind != COLL_ALLTOALLV)
        return ncclAlltoAll(from, to, n, type, perf_nccl.comm, stream);
#endif
    ncclGroupStart();
    for (int pe = 0; pe < perf_pes(); pe++) {
        ncclSend(from + pe * n * width, n, type, pe, perf_nccl.comm, stream);
        ncclRecv(to + pe * n * width, n, type, pe, perf_nccl.comm, stream);
    }
    return ncclGroupEnd();
}

static ncclResult_t perf_nccl_call(int kind, void *to, const void *from, size_t n, cudaStream_t stream)
{
    ncclComm_t comm = perf_nccl.comm;

    switch (kind) {
    case COLL_FCOLLECT: return ncclAllGather(from, to, n, ncclInt64, comm, stream);
    case COLL_BROADCAST: return ncclBroadcast(from, to, n, ncclInt64, 0, comm, stream);
    case COLL_REDUCE: return ncclAllReduce(from, to, n, ncclInt64, ncclSum, comm, stream);
    case COLL_REDUCE_FLOAT: return ncclAllReduce(from, to, n, ncclFloat, ncclSum, comm, stream);
    case COLL_REDUCESCATTER: return ncclReduceScatter(from, to, n, ncclInt64, ncclSum, comm, stream);
    case COLL_BARRIER:
    case COLL_SYNC: return ncclAllReduce(from, to, 1, ncclInt64, ncclSum, comm, stream);
    }
    return perf_nccl_alltoall((char *)to, (const char *)from, n, kind, stream);
}

static bool perf_on_stream(int kind, void *dest, const void *source, size_t n, cudaStream_t stream)
{
    if (kind == COLL_PUTS_BARRIER || kind == COLL_ALLTOALLV_PACKED || kind == COLL_ALLTOALLV_PUTS)
        return false;
    perf_nccl_must(perf_nccl_call(kind, dest, source, n, stream), dev_table.kinds[kind].name);
    return true;
}

static bool perf_on_host(int, void *, const void *, size_t)
{
    return false;
}

#endif
