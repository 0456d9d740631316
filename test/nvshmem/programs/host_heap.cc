/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap from host code: growth beyond what it began with, an alignment, zeros, equal offsets, everything given back.
 * paths: fakegpu:2,4 gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

int main()
{
    begin_host();
    char *base = symmetric<char>(1), *large, *aligned;
    long *offset = symmetric<long>(1), sum = 0;

    large = (char *)nvshmem_malloc((size_t)100 << 20);
    aligned = (char *)nvshmem_align(1 << 16, 1000);
    CHECK(large && aligned && (uintptr_t)aligned % (1 << 16) == 0);
    nvshmem_long_p(offset, (long)(large - base) + (long)(aligned - base), me);
    nvshmem_char_p(large + ((size_t)100 << 20) - 1, (char)(me + 1), right);
    nvshmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        sum += nvshmem_long_g(offset, pe);
    CHECK(sum == n * nvshmem_long_g(offset, me));
    CHECK(nvshmem_char_g(large + ((size_t)100 << 20) - 1, me) == left + 1);
    nvshmem_barrier_all();
    nvshmem_free(aligned);
    nvshmem_free(large);
    CHECK(nvshmem_malloc((size_t)90 << 20) != NULL && !nvshmem_malloc((size_t)1 << 50));
    nvshmem_free(NULL);
    return finish_host();
}
