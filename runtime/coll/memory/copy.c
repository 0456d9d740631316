/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies by stores that fetch the line they are about to overwrite, and by stores that do not. */
#include "runtime/coll/memory/copy.h"

#include "runtime/coll/choose/dispatch.h"

#include <string.h>

static void copy_cached(void *dest, const void *src, size_t len)
{
    memcpy(dest, src, len);
}

#if defined(__x86_64__)

#include <ctype.h>
#include <emmintrin.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The processor's own copy: whole lines need not be fetched before they are written. */
static void copy_string(void *dest, const void *src, size_t len)
{
    __asm__ volatile("rep movsb" : "+D"(dest), "+S"(src), "+c"(len) : : "memory");
}

/* Stores past the caches. The processor may delay them, so a fence keeps them before later stores. */
static void copy_streamed(void *dest, const void *src, size_t len)
{
    size_t head = -(uintptr_t)dest % sizeof(__m128i), n = head < len ? (len - head) / sizeof(__m128i) : 0;
    __m128i *to = (__m128i *)((char *)dest + head);
    const __m128i *from = (const __m128i *)((const char *)src + head);

    memcpy(dest, src, head < len ? head : len);
    for (size_t i = 0; i < n; i++)
        _mm_stream_si128(to + i, _mm_loadu_si128(from + i));
    if (head < len)
        memcpy(to + n, from + n, (len - head) % sizeof(__m128i));
    _mm_sfence();
}

#define CACHE "/sys/devices/system/cpu/cpu0/cache/index3/"

static bool line_read(const char *path, char *line, size_t len)
{
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(line, (int)len, file);

    if (file)
        fclose(file);
    return is_read;
}

static int cpus_count(const char *map)
{
    int n = 0;

    for (; *map; map++)
        if (isxdigit((unsigned char)*map))
            n += __builtin_popcountl(strtoul((char[]){*map, 0}, NULL, 16));
    return n;
}

/*
 * The size of all last-level caches of the host, which are assumed to be as large as the first one. If the system does
 * not tell, there is no limit and memcpy copies everything. (In a virtual machine sysconf counts the caches of the
 * machine below.)
 */
static size_t caches = SIZE_MAX;
static pthread_once_t caches_once = PTHREAD_ONCE_INIT;

static void caches_find(void)
{
    char size[32], map[512];
    int sharing = line_read(CACHE "shared_cpu_map", map, sizeof map) ? cpus_count(map) : 0;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t kib = line_read(CACHE "size", size, sizeof size) ? strtoul(size, NULL, 10) : 0;

    if (sharing && kib)
        caches = kib * 1024 * (cpus > sharing ? (size_t)(cpus / sharing) : 1);
}

wsh_copy_fn *const wsh_copy_by[WSH_ALGOS] = {
    [WSH_ALGO_CACHED] = copy_cached,
    [WSH_ALGO_STRING] = copy_string,
    [WSH_ALGO_STREAMED] = copy_streamed,
};

static size_t halves_of_caches(size_t touched)
{
    pthread_once(&caches_once, caches_find);
    return touched ? (touched - 1) / (caches / 2) + 1 : 0;
}

#else

wsh_copy_fn *const wsh_copy_by[WSH_ALGOS] = {[WSH_ALGO_CACHED] = copy_cached};

static size_t halves_of_caches(size_t touched)
{
    return touched != 0;
}

#endif

wsh_copy_fn *wsh_coll_copy_for(size_t touched)
{
    return wsh_copy_by[wsh_choice_find(WSH_COLL_COPY, WSH_LAYOUT_ONE, 1, halves_of_caches(touched))->algo];
}
