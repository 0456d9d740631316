/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of rows of collectives, and their default scopes, sizes and threads. */
#include "perftest/device/coll.h"

#include <stdint.h>

/* clang-format off */
const struct dev_kind coll_kinds[COLL_KINDS] = {
    [COLL_ALLTOALL] = {"alltoall", DEV_US, COLL_MINE_OF_ALL, 0, 0, "alltoall of int64"},
    [COLL_ALLTOALL_INT32] = {"alltoall_int32", DEV_US, COLL_MINE_OF_ALL, 0, 0, "alltoall of int32"},
    [COLL_ALLTOALLV] = {"alltoallv", DEV_US, COLL_MINE_OF_ALL, 0, 0,
        "alltoallv of int64, equal counts; NCCL: grouped sends and receives"},
    [COLL_ALLTOALLV_PACKED] = {"alltoallv_packed", DEV_US, COLL_MINE_OF_ALL, 0, 0,
        "the same where senders alone know the counts"},
    [COLL_ALLTOALLV_PUTS] = {"alltoallv_puts", DEV_US, COLL_MINE_OF_ALL, 0, 0,
        "the same by hand: puts to known places, then barrier_all"},
    [COLL_FCOLLECT] = {"fcollect", DEV_US, COLL_FIRST_OF_ALL, 0, 0, "fcollect of int64; NCCL: all-gather"},
    [COLL_BROADCAST] = {"broadcast", DEV_US, COLL_OF_ROOT, 0, 0, "broadcast of int64 from PE 0"},
    [COLL_REDUCE] = {"reduce", DEV_US, COLL_SUM, 0, 0, "sum of int64 at all PEs; NCCL: all-reduce"},
    [COLL_REDUCE_FLOAT] = {"reduce_float", DEV_US, COLL_SUM, 0, 0, "sum of float at all PEs"},
    [COLL_REDUCESCATTER] = {"reducescatter", DEV_US, COLL_SUM_OF_MINE, 0, 0,
        "sum of int64, a block for each PE"},
    [COLL_BARRIER] = {"barrier_all", DEV_US, COLL_NOTHING, DEV_FIXED, 0,
        "barrier_all; NCCL: all-reduce of one int64"},
    [COLL_SYNC] = {"sync_all", DEV_US, COLL_NOTHING, DEV_FIXED, 0, "sync_all; NCCL: as barrier_all"},
    [COLL_PUTS_BARRIER] = {"puts_barrier", DEV_US, COLL_MINE_OF_ALL, DEV_FIXED, 0,
        "put_nbi of 4 KiB to every PE, then barrier_all"},
    [COLL_BARRIER_LOADED] = {"barrier_loaded", DEV_US, COLL_NOTHING, DEV_FIXED, 0,
        "barrier_all by block 0 while the others put 64 KiB pieces to the next PE"},
};

#define THREAD_SIZES "16,32,64,128,256,512,1k,2k,4k,8k"
#define WARP_SIZES "16,32,64,128,256,512,1k,2k,4k,8k,16k,32k,64k"
#define EVERY_SIZE WARP_SIZES ",128k,256k,512k,1M,2M,4M,8M,16M,32M,64M"
#define SIZES "16,32,64,512,1k,4k,16k,64k,256k,1M,2M,4M,16M,64M"
#define FEW_SIZES "32,4k,64k,1M,4M"

static const struct dev_shape shapes[] = {
    {COLL_ALLTOALL, DEV_THREAD, THREAD_SIZES, "1x1"},
    {COLL_ALLTOALL, DEV_WARP, WARP_SIZES, "1x32"},
    {COLL_ALLTOALL, DEV_BLOCK, EVERY_SIZE, "1x256"},
    {COLL_ALLTOALL, DEV_BLOCK, FEW_SIZES, "1x1024"},
    {COLL_ALLTOALL, DEV_STREAM, EVERY_SIZE, "0x0"},
    {COLL_ALLTOALL, DEV_GRAPH, EVERY_SIZE, "0x0"},
    {COLL_ALLTOALL, DEV_HOST, EVERY_SIZE, "0x0"},
    {COLL_ALLTOALL_INT32, DEV_THREAD, "8,16,64,512,2k", "1x1"},
    {COLL_ALLTOALL_INT32, DEV_WARP, "8,16,64,512,4k,16k", "1x32"},
    {COLL_ALLTOALL_INT32, DEV_BLOCK, "8,16," FEW_SIZES, "1x256"},
    {COLL_ALLTOALLV, DEV_BLOCK, SIZES, "1x256"},
    {COLL_ALLTOALLV, DEV_STREAM, EVERY_SIZE, "0x0"},
    {COLL_ALLTOALLV, DEV_GRAPH, EVERY_SIZE, "0x0"},
    {COLL_ALLTOALLV_PACKED, DEV_BLOCK, SIZES, "1x256"},
    {COLL_ALLTOALLV_PACKED, DEV_STREAM, EVERY_SIZE, "0x0"},
    {COLL_ALLTOALLV_PACKED, DEV_GRAPH, EVERY_SIZE, "0x0"},
    {COLL_ALLTOALLV_PUTS, DEV_BLOCK, SIZES, "1x256"},
    {COLL_ALLTOALLV_PUTS, DEV_STREAM, EVERY_SIZE, "0x0"},
    {COLL_FCOLLECT, DEV_THREAD, "16,32,64,512,1k,4k", "1x1"},
    {COLL_FCOLLECT, DEV_WARP, "16,32,64,512,1k,4k,16k", "1x32"},
    {COLL_FCOLLECT, DEV_BLOCK, SIZES, "1x256"},
    {COLL_FCOLLECT, DEV_BLOCK, FEW_SIZES, "1x1024"},
    {COLL_FCOLLECT, DEV_STREAM, SIZES, "0x0"},
    {COLL_FCOLLECT, DEV_GRAPH, SIZES, "0x0"},
    {COLL_FCOLLECT, DEV_HOST, FEW_SIZES, "0x0"},
    {COLL_BROADCAST, DEV_THREAD, "16,32,64,512,1k,4k", "1x1"},
    {COLL_BROADCAST, DEV_WARP, "16,32,64,512,1k,4k,16k", "1x32"},
    {COLL_BROADCAST, DEV_BLOCK, SIZES, "1x256"},
    {COLL_BROADCAST, DEV_BLOCK, FEW_SIZES, "1x1024"},
    {COLL_BROADCAST, DEV_STREAM, SIZES, "0x0"},
    {COLL_BROADCAST, DEV_GRAPH, SIZES, "0x0"},
    {COLL_BROADCAST, DEV_HOST, FEW_SIZES, "0x0"},
    {COLL_REDUCE, DEV_THREAD, "16,32,64,512,1k,4k", "1x1"},
    {COLL_REDUCE, DEV_WARP, "16,32,64,512,1k,4k,16k", "1x32"},
    {COLL_REDUCE, DEV_BLOCK, SIZES, "1x256"},
    {COLL_REDUCE, DEV_BLOCK, FEW_SIZES, "1x1024"},
    {COLL_REDUCE, DEV_STREAM, SIZES, "0x0"},
    {COLL_REDUCE, DEV_GRAPH, SIZES, "0x0"},
    {COLL_REDUCE, DEV_HOST, FEW_SIZES, "0x0"},
    {COLL_REDUCE_FLOAT, DEV_THREAD, "16,512", "1x1"},
    {COLL_REDUCE_FLOAT, DEV_WARP, "16,512,4k", "1x32"},
    {COLL_REDUCE_FLOAT, DEV_BLOCK, FEW_SIZES, "1x256"},
    {COLL_REDUCE_FLOAT, DEV_STREAM, FEW_SIZES, "0x0"},
    {COLL_REDUCE_FLOAT, DEV_GRAPH, FEW_SIZES, "0x0"},
    {COLL_REDUCESCATTER, DEV_THREAD, "16,32,64,512,1k,4k", "1x1"},
    {COLL_REDUCESCATTER, DEV_WARP, "16,32,64,512,1k,4k,16k", "1x32"},
    {COLL_REDUCESCATTER, DEV_BLOCK, SIZES, "1x256"},
    {COLL_REDUCESCATTER, DEV_BLOCK, FEW_SIZES, "1x1024"},
    {COLL_REDUCESCATTER, DEV_STREAM, SIZES, "0x0"},
    {COLL_REDUCESCATTER, DEV_GRAPH, SIZES, "0x0"},
    {COLL_BARRIER, DEV_THREAD, "0", "1x1"},
    {COLL_BARRIER, DEV_WARP, "0", "1x32"},
    {COLL_BARRIER, DEV_BLOCK, "0", "1x256,1x1024"},
    {COLL_BARRIER, DEV_STREAM, "0", "0x0"},
    {COLL_BARRIER, DEV_GRAPH, "0", "0x0"},
    {COLL_BARRIER, DEV_HOST, "0", "0x0"},
    {COLL_SYNC, DEV_THREAD, "0", "1x1"},
    {COLL_SYNC, DEV_WARP, "0", "1x32"},
    {COLL_SYNC, DEV_BLOCK, "0", "1x256,1x1024"},
    {COLL_SYNC, DEV_STREAM, "0", "0x0"},
    {COLL_SYNC, DEV_GRAPH, "0", "0x0"},
    {COLL_SYNC, DEV_HOST, "0", "0x0"},
    {COLL_PUTS_BARRIER, DEV_THREAD, "4k", "1x1"},
    {COLL_PUTS_BARRIER, DEV_WARP, "4k", "1x32"},
    {COLL_PUTS_BARRIER, DEV_BLOCK, "4k", "1x256"},
    {COLL_BARRIER_LOADED, DEV_BLOCK, "0", "33x256"},
};
/* clang-format on */

size_t coll_width(int kind)
{
    return kind == COLL_ALLTOALL_INT32 || kind == COLL_REDUCE_FLOAT ? 4 : 8;
}

size_t coll_nelems(const struct dev_row *row, int pes)
{
    size_t width = coll_width(row->kind);

    return row->kind == COLL_PUTS_BARRIER ? COLL_PUT / width : row->size / width / (size_t)pes;
}

/* What few threads move is small, as in the peers' tests: they would take long over more. */
static bool possible(const struct dev_row *row, int pes)
{
    size_t most = row->scope == DEV_THREAD ? 511 : row->scope == DEV_WARP ? 4095 : SIZE_MAX, n;

    if (coll_kinds[row->kind].flags & DEV_FIXED || !pes)
        return true;
    n = coll_nelems(row, pes);
    return n >= 1 && n <= most;
}

/* Of a row's bytes, what each PE's links carry at least. */
static double bus(const struct dev_row *row, int pes)
{
    switch (coll_kinds[row->kind].data) {
    case COLL_OF_ROOT: return 1.0 / pes;
    case COLL_SUM: return 2.0 * (pes - 1) / pes / pes;
    case COLL_NOTHING: return 0;
    }
    return row->kind == COLL_PUTS_BARRIER ? 0 : (pes - 1.0) / pes;
}

const struct dev_table dev_table = {
    .name = "collectives",
    .what = "Collectives by kernels, on streams, in graphs and by the host, on device memory. Sizes are "
            "those of all\n"
            "PEs' blocks together, in whole elements; the slowest PE counts",
    .kinds = coll_kinds,
    .shapes = shapes,
    .n_kinds = COLL_KINDS,
    .n_shapes = sizeof shapes / sizeof shapes[0],
    .possible = possible,
    .bus = bus,
};
