/* SPDX-License-Identifier: BSD-3-Clause */
/* Expert parallelism in memory of the host: dispatch and combine by the calling thread. */
#include "perftest/ep/moe.h"

#include <stdlib.h>
#include <string.h>

static double marks[MOE_CHUNK * MOE_MARKS];
static volatile float computed; /* keeps the compiler from leaving the computation out */

static int ready(void)
{
    return PERF_OK;
}

static void nothing(void)
{
}

static int one_block(int pes)
{
    (void)pes;
    return 1;
}

static void *take(size_t bytes)
{
    return malloc(bytes ? bytes : 1);
}

static void *take_symmetric(size_t bytes)
{
    return shmem_align(4096, bytes);
}

static void move(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void fill(void *to, int byte, size_t bytes)
{
    memset(to, byte, bytes);
}

static void *no_stream(void)
{
    return NULL;
}

static void mark(int i)
{
    marks[i] = perf_now();
}

static void copy(void *to, const void *from, size_t bytes, size_t window, int blocks)
{
    (void)blocks;
    for (size_t at = 0, part; at < bytes; at += part) {
        part = bytes - at < window ? bytes - at : window;
        memcpy(to, from, part);
    }
}

static void compute(long rounds)
{
    float sum = computed;

    for (long i = 0; i < rounds; i++)
        sum = sum * 0.999f + 1.0f;
    computed = sum;
}

static void wait_us(long us)
{
    double until = perf_now() + (double)us * 1e3;

    while (perf_now() < until)
        ;
}

static double between(int first, int second)
{
    return (marks[second] - marks[first]) / 1e3;
}

static const struct moe_backend host = {
    .name = "ep_host",
    .what = "expert parallelism in memory of the host: dispatch and combine of tokens' rows",
    .window = (size_t)16 << 20,
    .transport = "shared memory",
    .probe = ready,
    .open = ready,
    .close = nothing,
    .blocks = one_block,
    .take = take,
    .release = free,
    .take_symmetric = take_symmetric,
    .release_symmetric = shmem_free,
    .write = move,
    .read = move,
    .fill = fill,
    .stream = no_stream,
    .begin = nothing,
    .barrier = shmem_barrier_all,
    .mark = mark,
    .copy = copy,
    .compute = compute,
    .wait = wait_us,
    .finish = nothing,
    .between = between,
};

int main(int argc, char **argv)
{
    return moe_main(&host, argc, argv);
}
