/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random puts and gets of kernels (sizes, offsets, alignment of both sides to each other, scopes, threads of a block,
 * bulk copies, sources in shared memory) leave memory exactly as a model says. WSH_TEST_SEED replays a sequence.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

#include <stdlib.h>
#include <string.h>

#define AREA ((size_t)200000)
#define SCRATCH 20000

DEV_SCOPED(putmem)
DEV_SCOPED(getmem)

template <int S> __device__ void put_bulk(void *dest, const void *source, size_t len, int pe, void *scratch)
{
    if constexpr (S == THREAD)
        shmemx_putmem_bulk(dest, source, len, pe, scratch, SCRATCH);
    else if constexpr (S == WARP)
        shmemx_putmem_bulk_warp(dest, source, len, pe, scratch, SCRATCH);
    else
        shmemx_putmem_bulk_block(dest, source, len, pe, scratch, SCRATCH);
}

template <int S> __device__ void get_bulk(void *dest, const void *source, size_t len, int pe, void *scratch)
{
    if constexpr (S == THREAD)
        shmemx_getmem_bulk(dest, source, len, pe, scratch, SCRATCH);
    else if constexpr (S == WARP)
        shmemx_getmem_bulk_warp(dest, source, len, pe, scratch, SCRATCH);
    else
        shmemx_getmem_bulk_block(dest, source, len, pe, scratch, SCRATCH);
}

/* how: 0 plain, 1 bulk, 2 from (put) or to (get) shared memory where it fits. */
template <int S>
__global__ void __launch_bounds__(1024) put(char *dest, const char *source, size_t len, int pe, int how)
{
    extern __shared__ __align__(128) char shared[];

    if (how == 2 && len <= SCRATCH) {
        for (size_t i = threadIdx.x; i < len; i += blockDim.x)
            shared[i] = source[i];
        dev_putmem<S>(dest, shared, len, pe);
    } else if (how == 1) {
        put_bulk<S>(dest, source, len, pe, shared);
    } else {
        dev_putmem<S>(dest, source, len, pe);
    }
    shmem_quiet();
}

template <int S>
__global__ void __launch_bounds__(1024) get(char *dest, const char *source, size_t len, int pe, int how)
{
    extern __shared__ __align__(128) char shared[];

    if (how == 2 && len <= SCRATCH) {
        dev_getmem<S>(shared, source, len, pe);
        for (size_t i = threadIdx.x; i < len; i += blockDim.x)
            dest[i] = shared[i];
    } else if (how == 1) {
        get_bulk<S>(dest, source, len, pe, shared);
    } else {
        dev_getmem<S>(dest, source, len, pe);
    }
}

static char *area, *buffer;
static char *model, *host;

static void put_once(int scope, unsigned threads, size_t off, size_t at, size_t len, int how)
{
    dev_upload(buffer + at, host, len);
    memcpy(model + off, host, len);
    if (scope == THREAD)
        put<THREAD><<<1, 1, SCRATCH>>>(area + off, buffer + at, len, mp_right(), how);
    else if (scope == WARP)
        put<WARP><<<1, threads < 32 ? threads : 32, SCRATCH>>>(area + off, buffer + at, len, mp_right(), how);
    else
        put<BLOCK><<<1, threads, SCRATCH>>>(area + off, buffer + at, len, mp_right(), how);
    dev_wait();
}

static void get_once(int scope, unsigned threads, size_t off, size_t at, size_t len, int how)
{
    cudaMemset(buffer, 0x5a, AREA + 512);
    if (scope == THREAD)
        get<THREAD><<<1, 1, SCRATCH>>>(buffer + at, area + off, len, mp_right(), how);
    else if (scope == WARP)
        get<WARP><<<1, threads < 32 ? threads : 32, SCRATCH>>>(buffer + at, area + off, len, mp_right(), how);
    else
        get<BLOCK><<<1, threads, SCRATCH>>>(buffer + at, area + off, len, mp_right(), how);
    dev_wait();
    dev_download(host, buffer, AREA + 512);
    mp_check(!memcmp(host + at, model + off, len), "%s get of %zu bytes at %zu to %zu, %u threads, how %d",
             dev_scope_name[scope], len, off, at, threads, how);
    for (size_t i = 0; i < AREA + 512; i++)
        if ((i < at || i >= at + len) && host[i] != 0x5a) {
            mp_check(false, "get of %zu bytes to %zu wrote at %zu", len, at, i);
            break;
        }
}

static void operation(uint64_t *state)
{
    static const size_t below[] = {9, 65, 600, 9000, 70000, 190000};
    static const unsigned threads[] = {1, 7, 32, 33, 64, 100, 256, 1024};
    size_t len = mp_random_below(state, below[mp_random_below(state, sizeof below / sizeof below[0])]);
    size_t off = mp_random_below(state, AREA - len + 1), at = mp_random_below(state, 64);
    int scope = (int)mp_random_below(state, SCOPES), how = (int)mp_random_below(state, 3);
    unsigned n = threads[mp_random_below(state, sizeof threads / sizeof threads[0])];

    if (mp_random(state) % 2)
        off &= ~(size_t)15, at = at & ~(size_t)15;
    if (mp_random(state) % 3) {
        mp_fill(host, len, mp_random(state));
        put_once(scope, n, off, at, len, how);
    } else {
        get_once(scope, n, off, at, len, how);
    }
}

/* What the left neighbour wrote here, against its model. */
static void compare(char *symmetric_model)
{
    size_t wrong = 0;

    shmem_putmem(symmetric_model, model, AREA, mp_right());
    shmem_barrier_all();
    dev_download(host, area, AREA);
    for (size_t i = 0; i < AREA; i++)
        wrong += host[i] != symmetric_model[i];
    mp_check(!wrong, "%zu bytes differ from the model; seed %lu", wrong, (unsigned long)mp_seed());
    shmem_barrier_all();
}

int main(void)
{
    uint64_t state = mp_seed();
    char *symmetric_model;

    dev_begin();
    state += (uint64_t)mp_me;
    area = (char *)dev_alloc(AREA);
    buffer = (char *)dev_alloc(AREA + 512);
    symmetric_model = (char *)mp_alloc(AREA);
    model = (char *)calloc(1, AREA);
    host = (char *)malloc(AREA + 512);
    for (int round = 0; round < 10; round++) {
        dev_case("round %d", round);
        for (long n = 0; n < mp_rounds(100, 1000); n++)
            operation(&state);
        compare(symmetric_model);
    }
    free(model), free(host);
    return dev_end();
}
