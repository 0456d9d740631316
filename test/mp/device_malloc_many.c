/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device heap gives equal offsets on all PEs, aligned, cleared where asked, NULL everywhere when it is
 * exhausted, keeps what is in memory that is made longer or shorter, and takes everything back; host memory goes on
 * meanwhile, and kernels may reach what it commits later.
 *
 * paths: fakegpu:1,3 fakegpuipc:2 fakegpu1:3 gpu:2 gpuipc:2 gpu1:3
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>

enum { MANY = 60 };

static void same_everywhere(const char *base, const char *ptr)
{
    static long offset;

    offset = ptr - base;
    shmem_barrier_all();
    mp_check(shmem_long_g(&offset, mp_right()) == offset, "offset %ld here, %ld at PE %d", offset,
             shmem_long_g(&offset, mp_right()), mp_right());
    shmem_barrier_all();
}

static bool is_zero(const char *ptr, size_t len)
{
    char *copy = malloc(len);
    size_t i = 0;

    shmem_getmem(copy, ptr, len, mp_right());
    while (i < len && !copy[i])
        i++;
    free(copy);
    return i == len;
}

static void many(const char *base)
{
    uint64_t state = mp_seed();
    char *live[MANY] = {NULL};

    for (int n = 0; n < 4 * MANY; n++) {
        int i = (int)mp_random_below(&state, MANY);
        size_t len = 1 + mp_random_below(&state, 200000), align = (size_t)64 << mp_random_below(&state, 15);

        if (live[i]) {
            shmemx_free_device(live[i]);
            live[i] = NULL;
        } else if (n % 3) {
            live[i] = shmemx_align_device(align, len);
            mp_check(live[i] && (uintptr_t)live[i] % align == 0, "%zu bytes aligned to %zu: %p", len, align,
                     live[i]);
        } else {
            live[i] = shmemx_calloc_device(1, len);
            mp_check(live[i] && is_zero(live[i], len), "%zu bytes are not cleared", len);
            shmem_putmem(live[i], base, len < 100 ? len : 100, mp_right());
        }
    }
    same_everywhere(base, live[MANY / 2] ? live[MANY / 2] : base);
    for (int i = 0; i < MANY; i++)
        shmemx_free_device(live[i]);
}

/* What it held at first is there, at the same offset everywhere. */
static void holds(const char *base, const char *ptr, size_t len)
{
    char copy[1000];

    mp_check(ptr != NULL, "no memory for %zu bytes", len);
    shmem_getmem(copy, ptr, len, mp_right());
    mp_check(mp_wrong(copy, len, (uint64_t)mp_right()) == 0, "%zu bytes are lost",
             mp_wrong(copy, len, (uint64_t)mp_right()));
    same_everywhere(base, ptr);
}

static void resized(const char *base)
{
    char content[1000], *ptr = shmemx_malloc_device(sizeof content), *behind = shmemx_malloc_device(64);

    mp_fill(content, sizeof content, (uint64_t)mp_me);
    shmem_putmem(ptr, content, sizeof content, mp_me);
    ptr = shmem_realloc(ptr, 1 << 20); /* there is no room where it was */
    holds(base, ptr, sizeof content);
    ptr = shmem_realloc(ptr, 2 << 20);
    holds(base, ptr, sizeof content);
    mp_check(!shmem_realloc(ptr, (size_t)1 << 40), "1 TiB is not NULL");
    holds(base, ptr, sizeof content);
    ptr = shmem_realloc(ptr, 100);
    holds(base, ptr, 100);
    mp_check(!shmem_realloc(ptr, 0), "0 bytes are not NULL");
    shmem_free(behind);
}

int main(void)
{
    char *base, *host, *large;

    mp_begin();
    base = shmemx_malloc_device(1000);
    if (!mp_check(base, "no device memory"))
        return mp_end();
    many(base);
    resized(base);
    mp_check(!shmemx_malloc_device(0), "0 bytes are not NULL");
    mp_check(!shmemx_malloc_device((size_t)1 << 40), "1 TiB is not NULL");
    mp_check(!shmemx_calloc_device((size_t)1 << 40, (size_t)1 << 40), "a product that overflows is not NULL");
    large = shmem_malloc_with_hints(40 << 20, SHMEMX_MALLOC_DEVICE | SHMEM_MALLOC_ATOMICS_REMOTE);
    mp_check(large && large != base, "40 MiB are not there after all was given back");
    host = shmem_malloc(5 << 20);
    mp_check(host != NULL, "host memory");
    shmem_free(large);
    shmem_free(host);
    shmemx_free_device(base);
    return mp_end();
}
