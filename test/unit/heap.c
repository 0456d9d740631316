/* SPDX-License-Identifier: BSD-3-Clause */
/* An address is found in its segment, borders included; a heap that cannot be had is explained in one line. */
#define _GNU_SOURCE
#include "runtime/memory/heap.h"

#include "runtime/memory/alloc.h"
#include "test/common/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void finds_addresses(void)
{
    static char heap_bytes[1000], static_bytes[500];
    struct wsh_heap heap = {.seg = {[WSH_SEG_HEAP] = {heap_bytes, sizeof heap_bytes, -1},
                                    [WSH_SEG_STATIC] = {static_bytes, sizeof static_bytes, -1}}};
    size_t off = 7;

    CU_ASSERT(wsh_heap_find(&heap, heap_bytes, 1000, &off) == WSH_SEG_HEAP && off == 0);
    CU_ASSERT(wsh_heap_find(&heap, heap_bytes + 999, 1, &off) == WSH_SEG_HEAP && off == 999);
    CU_ASSERT(wsh_heap_find(&heap, heap_bytes + 1, 1000, &off) == -1);
    CU_ASSERT(wsh_heap_find(&heap, heap_bytes + 1000, 1, &off) == -1 || static_bytes == heap_bytes + 1000);
    CU_ASSERT(wsh_heap_find(&heap, heap_bytes + 10, SIZE_MAX, &off) == -1);
    CU_ASSERT(wsh_heap_find(&heap, static_bytes + 3, 497, &off) == WSH_SEG_STATIC && off == 3);
    CU_ASSERT(wsh_heap_find(&heap, static_bytes + 3, 498, &off) == -1);
    CU_ASSERT(wsh_heap_find(&heap, NULL, 1, &off) == -1);
    CU_ASSERT(wsh_heap_find(&heap, &off, 8, &off) == -1);
}

static void finds_nothing_in_no_segments(void)
{
    struct wsh_heap heap = {0};
    size_t off;

    CU_ASSERT(wsh_heap_find(&heap, NULL, 0, &off) == -1);
    CU_ASSERT(wsh_heap_find(&heap, &off, 1, &off) == -1);
}

static struct wsh_env env_with(size_t size)
{
    struct wsh_env env;

    wsh_env_load(&env);
    env.symmetric_size = size;
    env.static_data = WSH_OFF;
    return env;
}

static void serves_what_was_asked_for(void)
{
    struct wsh_env env = env_with((size_t)8 << 20);
    struct wsh_heap heap;
    char *word;

    CU_ASSERT_EQUAL_FATAL(wsh_heap_init(&heap, &env), 0);
    CU_ASSERT(heap.seg[WSH_SEG_HEAP].len >= (size_t)8 << 20);
    CU_ASSERT(wsh_alloc_largest(heap.alloc) >= (size_t)8 << 20);
    word = wsh_heap_reserve(&heap, 64, 64);
    CU_ASSERT(word && (uintptr_t)word % 64 == 0 && !word[0] && !word[63]);
    wsh_heap_fini(&heap);
}

static int init_rc;

static void init_too_large(void *arg)
{
    struct wsh_env env = env_with(*(size_t *)arg);
    struct wsh_heap heap;

    init_rc = wsh_heap_init(&heap, &env);
}

static void explains_a_heap_larger_than_memory(void)
{
    size_t sizes[] = {(size_t)1 << 45, SIZE_MAX / 2 - 4096};
    char text[4096];

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unit_capture(init_too_large, &sizes[i], text, sizeof text);
        CU_ASSERT(init_rc < 0);
        CU_ASSERT_EQUAL(unit_lines(text), 1);
        CU_ASSERT(strstr(text, "SHMEM_SYMMETRIC_SIZE") && strstr(text, "free"));
    }
}

static int open_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void leaves_nothing_behind(void)
{
    struct wsh_env env = env_with((size_t)4 << 20);
    struct wsh_heap heap;
    int before = open_descriptors();

    for (int n = 0; n < 20; n++) {
        CU_ASSERT_EQUAL_FATAL(wsh_heap_init(&heap, &env), 0);
        wsh_heap_fini(&heap);
    }
    CU_ASSERT_EQUAL(open_descriptors(), before);
}

const struct unit_test unit_tests[] = {
    {"finds addresses", finds_addresses},
    {"finds nothing in no segments", finds_nothing_in_no_segments},
    {"serves what was asked for", serves_what_was_asked_for},
    {"explains a heap larger than memory", explains_a_heap_larger_than_memory},
    {"leaves nothing behind", leaves_nothing_behind},
    {NULL, NULL},
};
