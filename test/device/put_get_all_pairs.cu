/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel's puts and gets, at each scope, typed, sized, in bytes and nonblocking, move whole arrays between all pairs
 * of PEs, also to itself, and touch nothing beside them.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2
 * timeout: 300
 */
#include "test/device/dev.cuh"

#include <stdlib.h>

#define BORDER 64
#define LEN_MAX ((size_t)1 << 20)

DEV_SCOPED(putmem)
DEV_SCOPED(putmem_nbi)
DEV_SCOPED(int_put)
DEV_SCOPED(int64_put_nbi)
DEV_SCOPED(put128)
DEV_SCOPED(getmem)
DEV_SCOPED(getmem_nbi)
DEV_SCOPED(float_get)
DEV_SCOPED(uchar_get_nbi)
DEV_SCOPED(get16)

enum { KINDS = 5 };

template <int S> __global__ void put(char *dest, const char *source, size_t len, int pe, int kind)
{
    switch (kind) {
    case 0: dev_putmem<S>(dest, source, len, pe); break;
    case 1: dev_putmem_nbi<S>(dest, source, len, pe); break;
    case 2: dev_int_put<S>((int *)dest, (const int *)source, len / 4, pe); break;
    case 3: dev_int64_put_nbi<S>((int64_t *)dest, (const int64_t *)source, len / 8, pe); break;
    default: dev_put128<S>(dest, source, len / 16, pe);
    }
    shmem_quiet();
}

template <int S> __global__ void get(char *dest, const char *source, size_t len, int pe, int kind)
{
    switch (kind) {
    case 0: dev_getmem<S>(dest, source, len, pe); break;
    case 1: dev_getmem_nbi<S>(dest, source, len, pe); break;
    case 2: dev_float_get<S>((float *)dest, (const float *)source, len / 4, pe); break;
    case 3: dev_uchar_get_nbi<S>((unsigned char *)dest, (const unsigned char *)source, len, pe); break;
    default: dev_get16<S>(dest, source, len / 2, pe);
    }
    shmem_quiet();
}

static const size_t unit[2][KINDS] = {{1, 1, 4, 8, 16}, {1, 1, 4, 1, 2}};
static char *area, *source, *host; /* area: a row of borders and data for every PE */
static size_t row;

static uint64_t seed_of(int from, int to, size_t len)
{
    return (uint64_t)from * 1000 + (uint64_t)to + len;
}

static void check_row(const char *what, const char *data, size_t len, uint64_t seed)
{
    size_t outside = 0;

    mp_check(!mp_wrong(data + BORDER, len, seed), "%s: data differ", what);
    for (size_t i = 0; i < BORDER; i++)
        outside += data[i] != 0x5a || data[BORDER + len + i] != 0x5a;
    mp_check(!outside, "%s: %zu bytes beside the data were written", what, outside);
}

template <int S> static void run_puts(size_t len, int kind)
{
    cudaMemset(area, 0x5a, row * (size_t)mp_npes);
    dev_wait();
    shmem_barrier_all();
    for (int pe = 0; pe < mp_npes; pe++) {
        mp_fill(host, len, seed_of(mp_me, pe, len));
        dev_upload(source, host, len);
        put<S><<<1, dev_threads[S]>>>(area + (size_t)mp_me * row + BORDER, source, len, pe, kind);
        dev_wait();
    }
    shmem_barrier_all();
    for (int pe = 0; pe < mp_npes; pe++) {
        dev_download(host, area + (size_t)pe * row, len + 2 * BORDER);
        check_row("put", host, len, seed_of(pe, mp_me, len));
    }
}

template <int S> static void run_gets(size_t len, int kind)
{
    shmem_barrier_all();
    mp_fill(host, len, seed_of(mp_me, 77, len));
    dev_upload(source, host, len);
    shmem_barrier_all();
    for (int pe = 0; pe < mp_npes; pe++) {
        cudaMemset(area, 0x5a, row);
        get<S><<<1, dev_threads[S]>>>(area + BORDER, source, len, pe, kind);
        dev_wait();
        dev_download(host, area, len + 2 * BORDER);
        check_row("get", host, len, seed_of(pe, 77, len));
    }
    shmem_barrier_all();
}

template <int S> static void run(void)
{
    static const size_t lens[] = {16, 48, 256, 4096, 12304, 65536, LEN_MAX - 16, LEN_MAX};

    for (int kind = 0; kind < KINDS; kind++) {
        dev_case("%s scope, kind %d", dev_scope_name[S], kind);
        for (size_t len : lens) {
            run_puts<S>(len, kind);
            run_gets<S>(len, kind);
        }
        for (size_t n = 1; n < 9; n++) {
            run_puts<S>(n * unit[0][kind], kind);
            run_gets<S>(n * unit[1][kind], kind);
        }
    }
}

int main(void)
{
    dev_begin();
    row = LEN_MAX + 2 * BORDER;
    area = (char *)dev_alloc(row * (size_t)mp_npes);
    source = (char *)dev_alloc(LEN_MAX);
    host = (char *)malloc(row);
    DEV_EACH_SCOPE(run<S>());
    free(host);
    return dev_end();
}
