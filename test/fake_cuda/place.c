/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of device memory of the driver without a GPU: each process has a range of its own. */
#define _GNU_SOURCE
#include "test/fake_cuda/fake.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROCESSES 512u
#define EACH ((uintptr_t)1 << 33)

static uintptr_t round_up(uintptr_t at, size_t align)
{
    return (at + align - 1) & ~(uintptr_t)(align - 1);
}

static char *map_none(void *at, size_t len, int flags)
{
    char *base = mmap(at, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

    return base == MAP_FAILED ? NULL : base;
}

static char *anywhere(size_t len, size_t align)
{
    char *all = map_none(NULL, len + align, 0), *base;

    if (!all)
        return NULL;
    base = (char *)round_up((uintptr_t)all, align);
    if (base > all)
        munmap(all, (size_t)(base - all));
    munmap(base + len, (size_t)(all + align - base));
    return base;
}

char *fake_reserve(size_t len, size_t align)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uintptr_t next;
    char *base;

    pthread_mutex_lock(&lock);
    if (!next)
        next = FAKE_FIRST + (uintptr_t)getpid() % PROCESSES * EACH;
    next = round_up(next, align);
    base = map_none((void *)next, len, MAP_FIXED_NOREPLACE);
    next += round_up(len, 1 << 21);
    pthread_mutex_unlock(&lock);
    return base ? base : anywhere(len, align);
}
