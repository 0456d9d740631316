/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided puts and gets move the elements they name and touch nothing between them: iput, iget of several widths,
 * ibput and ibget of several block sizes.
 * paths: local:2,4 tcp:2 shm:2 mixed:4 mixedshm:4 single
 */
#include "test/common/mp.h"

#include <string.h>

#define N 12
#define STRIDE_MAX 5
#define BLOCK_MAX 3
#define SPAN (N * STRIDE_MAX * BLOCK_MAX)
#define UNTOUCHED 0x5a

/* Expected image of a destination: element `i` of block `n` from src, everything else untouched. */
static size_t wrong_image(const char *dst, const char *src, size_t width, const size_t stride[2],
                          size_t block, size_t nblocks)
{
    static char expected[SPAN * 16];

    memset(expected, UNTOUCHED, sizeof expected);
    for (size_t n = 0; n < nblocks; n++)
        memcpy(expected + n * stride[0] * width, src + n * stride[1] * width, block * width);
    return (size_t)(memcmp(expected, dst, SPAN * width) != 0);
}

typedef void (*put_fn)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
typedef void (*get_fn)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);

static const struct {
    size_t width;
    put_fn put;
    get_fn get;
} widths[] = {
    {1, shmem_iput8, shmem_iget8},   {2, shmem_iput16, shmem_iget16},    {4, shmem_iput32, shmem_iget32},
    {8, shmem_iput64, shmem_iget64}, {16, shmem_iput128, shmem_iget128},
};

static void check_width(size_t w, char *sym, char *src, size_t dst_stride, size_t src_stride)
{
    static char local[SPAN * 16], remote[SPAN * 16];
    size_t width = widths[w].width, stride[2] = {dst_stride, src_stride};

    memset(sym, UNTOUCHED, SPAN * width);
    mp_fill(src, SPAN * width, (uint64_t)mp_me);
    shmem_barrier_all();
    widths[w].put(sym, src, (ptrdiff_t)dst_stride, (ptrdiff_t)src_stride, N, mp_right());
    shmem_barrier_all();
    mp_fill(remote, SPAN * width, (uint64_t)mp_left());
    mp_check(!wrong_image(sym, remote, width, stride, 1, N), "iput, width %zu, strides %zu, %zu", width,
             dst_stride, src_stride);
    memset(local, UNTOUCHED, SPAN * width);
    mp_fill(remote, SPAN * width, (uint64_t)mp_right());
    widths[w].get(local, src, (ptrdiff_t)dst_stride, (ptrdiff_t)src_stride, N, mp_right());
    mp_check(!wrong_image(local, remote, width, stride, 1, N), "iget, width %zu, strides %zu, %zu", width,
             dst_stride, src_stride);
    shmem_barrier_all();
}

static void check_blocks(int *sym, int *src, size_t block, size_t dst_stride, size_t src_stride)
{
    static int local[SPAN], remote[SPAN];
    size_t stride[2] = {dst_stride, src_stride};

    memset(sym, UNTOUCHED, sizeof local);
    mp_fill(src, sizeof local, (uint64_t)mp_me);
    shmem_barrier_all();
    shmem_int_ibput(sym, src, (ptrdiff_t)dst_stride, (ptrdiff_t)src_stride, block, N, mp_right());
    shmem_barrier_all();
    mp_fill(remote, sizeof local, (uint64_t)mp_left());
    mp_check(!wrong_image((char *)sym, (char *)remote, sizeof(int), stride, block, N),
             "ibput, block %zu, strides %zu, %zu", block, dst_stride, src_stride);
    memset(local, UNTOUCHED, sizeof local);
    mp_fill(remote, sizeof local, (uint64_t)mp_right());
    shmem_int_ibget(local, src, (ptrdiff_t)dst_stride, (ptrdiff_t)src_stride, block, N, mp_right());
    mp_check(!wrong_image((char *)local, (char *)remote, sizeof(int), stride, block, N),
             "ibget, block %zu, strides %zu, %zu", block, dst_stride, src_stride);
    shmem_barrier_all();
}

int main(void)
{
    void *sym, *src;

    mp_begin();
    sym = mp_alloc(SPAN * 16);
    src = mp_alloc(SPAN * 16);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t s = 0; s < 9; s++)
            check_width(w, sym, src, s % 3 * 2 + 1, s / 3 * 2 + 1);
    }
    for (size_t block = 1; block <= BLOCK_MAX; block++) {
        for (size_t s = 0; s < 4; s++)
            check_blocks(sym, src, block, block + s % 2 * 3, block + s / 2 * 5);
    }
    shmem_int_iput(sym, src, 1, 1, 0, mp_right());
    shmem_int_ibput(sym, src, 4, 4, 4, 0, mp_right());
    return mp_end();
}
