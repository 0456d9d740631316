/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first call of each routine on a stream while a kernel of the same GPU waits for it: no kernel of the library is
 * loaded then. Under CUDA's default, lazy loading; the one that ends the wait is the last. Each PE by itself, in teams
 * of one PE.
 * paths: gpu:2 gpu1:1,2
 * timeout: 120
 */
#include <nvshmem.h>
#include <nvshmemx.h>

#include "check.h"

void launch_await(uint64_t *word, cudaStream_t stream);

enum { N = 1 << 16 };

static void call_all(nvshmem_team_t team, int *dest, const int *source, uint64_t *flag, cudaStream_t stream)
{
    int me = nvshmem_my_pe();

    nvshmemx_putmem_on_stream(dest, source, N, me, stream);
    nvshmemx_getmem_on_stream(dest, source, 4 * N, me, stream);
    nvshmemx_int_iput_on_stream(dest, source, 2, 1, 100, me, stream);
    nvshmemx_double_iget_on_stream((double *)dest, (const double *)source, 1, 2, 100, me, stream);
    nvshmemx_int_p_on_stream(dest, 3, me, stream);
    nvshmemx_putmem_signal_on_stream(dest, source, 8, flag, 2, NVSHMEM_SIGNAL_SET, me, stream);
    nvshmemx_putmem_signal_on_stream(dest, source, 4 * N, flag, 2, NVSHMEM_SIGNAL_ADD, me, stream);
    nvshmemx_signal_op_on_stream(flag, 1, NVSHMEM_SIGNAL_ADD, me, stream);
    nvshmemx_signal_wait_until_on_stream(flag, NVSHMEM_CMP_GE, 5, stream);
    nvshmemx_quiet_on_stream(stream);
    CHECK(!nvshmemx_barrier_on_stream(team, stream));
    for (size_t n : {(size_t)8, (size_t)N}) {
        CHECK(!nvshmemx_int_alltoall_on_stream(team, dest, source, n, stream));
        CHECK(!nvshmemx_int_fcollect_on_stream(team, dest, source, n, stream));
        CHECK(!nvshmemx_int_broadcast_on_stream(team, dest, source, n, 0, stream));
        CHECK(!nvshmemx_int_sum_reduce_on_stream(team, dest, source, n, stream));
        CHECK(!nvshmemx_float_max_reduce_on_stream(team, (float *)dest, (const float *)source, n, stream));
        CHECK(!nvshmemx_half_sum_reduce_on_stream(team, (half *)dest, (const half *)source, n, stream));
        CHECK(!nvshmemx_int_sum_reducescatter_on_stream(team, dest, source, n, stream));
    }
    CHECK(nvshmemx_uint64_g_on_stream(flag, me, stream) == 5);
}

int main()
{
    int devices, *dest, *source;
    uint64_t *words;
    nvshmem_team_t alone;
    cudaStream_t waits, works;

    nvshmem_init();
    CHECK_CUDA(cudaGetDeviceCount(&devices));
    CHECK_CUDA(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
    CHECK_CUDA(cudaStreamCreateWithFlags(&waits, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(&works, cudaStreamNonBlocking));
    words = (uint64_t *)nvshmem_calloc(2, sizeof *words);
    dest = (int *)nvshmem_calloc(N, sizeof *dest);
    source = (int *)nvshmem_calloc(N, sizeof *source);
    for (int pe = 0; pe < nvshmem_n_pes(); pe++) {
        nvshmem_team_t team;

        nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, pe, 1, 1, NULL, 0, &team);
        if (pe == nvshmem_my_pe())
            alone = team;
    }
    launch_await(words, waits);
    CHECK_CUDA(cudaGetLastError());
    call_all(alone, dest, source, words + 1, works);
    CHECK(cudaStreamQuery(waits) == cudaErrorNotReady);
    nvshmemx_uint64_p_on_stream(words, 1, nvshmem_my_pe(), works);
    CHECK_CUDA(cudaStreamSynchronize(works));
    CHECK_CUDA(cudaStreamSynchronize(waits));
    nvshmem_barrier_all();
    nvshmem_finalize();
    return 0;
}
