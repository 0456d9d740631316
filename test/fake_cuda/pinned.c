/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host memory that is registered with the driver without a GPU. As with the real one, no copy may reach beyond what
 * was pinned at once, even where the next piece follows.
 */
#include "test/fake_cuda/fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pin {
    char *base;
    size_t len;
    struct pin *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pin *pins;

/* The link to the pin that holds `addr`, or to NULL. Under the lock. */
static struct pin **find(const void *addr)
{
    struct pin **link = &pins;

    while (*link && (size_t)((const char *)addr - (*link)->base) >= (*link)->len)
        link = &(*link)->next;
    return link;
}

size_t fake_pinned(const void *addr)
{
    const struct pin *pin;
    size_t rest;

    pthread_mutex_lock(&lock);
    pin = *find(addr);
    rest = pin ? (size_t)(pin->base + pin->len - (const char *)addr) : 0;
    pthread_mutex_unlock(&lock);
    return rest;
}

int cuMemHostRegister_v2(void *ptr, size_t len, unsigned flags)
{
    struct pin *pin;

    FAKE_ENTER(true);
    if (!len || flags != WSH_CU_HOST_PORTABLE_MAPPED)
        return FAKE_INVALID;
    if (fake_pinned(ptr) || fake_pinned((char *)ptr + len - 1))
        return 712;
    pin = malloc(sizeof *pin);
    pthread_mutex_lock(&lock);
    *pin = (struct pin){ptr, len, pins};
    pins = pin;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuMemHostUnregister(void *ptr)
{
    struct pin **link, *pin;

    FAKE_ENTER(true);
    pthread_mutex_lock(&lock);
    link = find(ptr);
    pin = *link && (*link)->base == ptr ? *link : NULL;
    if (pin)
        *link = pin->next;
    pthread_mutex_unlock(&lock);
    free(pin);
    return pin ? 0 : FAKE_INVALID;
}

int cuMemHostGetDevicePointer_v2(wsh_cu_ptr *ptr, void *host, unsigned flags)
{
    FAKE_ENTER(true);
    if (flags || !fake_pinned(host))
        return FAKE_INVALID;
    *ptr = (wsh_cu_ptr)(uintptr_t)host;
    return 0;
}

int cuMemHostAlloc(void **ptr, size_t len, unsigned flags)
{
    FAKE_ENTER(true);
    *ptr = aligned_alloc(4096, (len + 4095) & ~(size_t)4095);
    if (*ptr)
        memset(*ptr, 0xa5, len);
    return *ptr ? cuMemHostRegister_v2(*ptr, len, flags | WSH_CU_HOST_PORTABLE_MAPPED) : WSH_CU_OUT_OF_MEMORY;
}

int cuMemFreeHost(void *ptr)
{
    int status = cuMemHostUnregister(ptr);

    if (!status)
        free(ptr);
    return status;
}
