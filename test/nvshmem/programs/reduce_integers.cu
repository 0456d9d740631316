/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of integers: every operation by a block, some by a thread and a warp, on the stream and from the host.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { COUNT = 40, KINDS = 7 };

#define OPS(X) X(sum) X(prod) X(min) X(max) X(and) X(or) X(xor)
#define KERNEL(NAME, TYPE)                                                                            \
    __global__ void reduce_##NAME(TYPE *dest, const TYPE *source)                                     \
    {                                                                                                 \
        int kind = 0;                                                                                 \
                                                                                                      \
        OPS(NAME##_BY_BLOCK)                                                                          \
    }
#define uint_BY_BLOCK(OP) nvshmemx_uint_##OP##_reduce_block(NVSHMEM_TEAM_WORLD, dest + COUNT * kind++, source, COUNT);
#define int64_BY_BLOCK(OP) nvshmemx_int64_##OP##_reduce_block(NVSHMEM_TEAM_WORLD, dest + COUNT * kind++, source, COUNT);
KERNEL(uint, unsigned)
KERNEL(int64, int64_t)

__global__ void reduce_small(int *dest, const int *source)
{
    if (threadIdx.x == 0)
        nvshmem_int_sum_reduce(NVSHMEM_TEAM_WORLD, dest, source, COUNT);
    __syncwarp();
    nvshmemx_int_max_reduce_warp(NVSHMEM_TEAM_WORLD, dest + COUNT, source, COUNT);
}

/* What operation `kind` makes of element i of all PEs: PE p has p + 1 + i % 3. */
static long want(int kind, int i)
{
    long value = 1 + i % 3;

    for (int pe = 1; pe < n; pe++) {
        long next = pe + 1 + i % 3;

        value = kind == 0 ? value + next : kind == 1 ? value * next : kind == 2 ? (value < next ? value : next) :
                kind == 3 ? (value > next ? value : next) : kind == 4 ? value & next : kind == 5 ? value | next :
                                                                                                   value ^ next;
    }
    return value;
}

template <class T>
static void fill(T *device)
{
    T host[COUNT];

    for (int i = 0; i < COUNT; i++)
        host[i] = (T)(me + 1 + i % 3);
    to_device(device, host, COUNT);
    nvshmem_barrier_all();
}

template <class T>
static void check(const T *device, const int *kinds, int count)
{
    T host[KINDS * COUNT];

    to_host(host, device, count * COUNT);
    for (int i = 0; i < count * COUNT; i++)
        CHECK(host[i] == (T)want(kinds[i / COUNT], i % COUNT));
    nvshmem_barrier_all();
}

int main(void)
{
    begin();
    const int kinds[] = {0, 1, 2, 3, 4, 5, 6}, small[] = {0, 3}, on_stream[] = {2, 0}, host[] = {6};
    int64_t *source = symmetric<int64_t>(COUNT), *dest = symmetric<int64_t>(KINDS * COUNT);
    int *from = (int *)source, *to = (int *)dest;

    fill((unsigned *)source);
    RUN(reduce_uint<<<1, 96, 0, stream>>>((unsigned *)dest, (unsigned *)source));
    check((unsigned *)dest, kinds, KINDS);
    fill(source);
    RUN(reduce_int64<<<1, 96, 0, stream>>>(dest, source));
    check(dest, kinds, KINDS);
    fill(from);
    RUN(reduce_small<<<1, 32, 0, stream>>>(to, from));
    check(to, small, 2);
    CHECK(!nvshmemx_int_min_reduce_on_stream(NVSHMEM_TEAM_WORLD, to, from, COUNT, stream));
    CHECK(!nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, to + COUNT, from, COUNT, stream));
    check(to, on_stream, 2);
    CHECK(!nvshmem_int32_xor_reduce(NVSHMEM_TEAM_WORLD, to, from, COUNT));
    check(to, host, 1);
    nvshmem_free(dest);
    nvshmem_free(source);
    return finish();
}
