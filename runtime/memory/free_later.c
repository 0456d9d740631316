/* SPDX-License-Identifier: BSD-3-Clause */
/* What this PE has released, and the agreement on what all have. */
#include "runtime/memory/free_later.h"

#include "base/invariant.h"
#include "runtime/memory/alloc.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/memory/sync_area.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/op/order.h"

#include <stdlib.h>

#define NONE UINT64_MAX
#define WORDS (WSH_LL_DATA / sizeof(uint64_t)) /* of a window: what one small reduction carries */
#define WINDOW (WORDS * 64)                    /* keys that PEs agree on at a time */

void wsh_releases_open(struct wsh_releases *releases)
{
    *releases = (struct wsh_releases){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void wsh_releases_close(struct wsh_releases *releases)
{
    free(releases->list);
    *releases = (struct wsh_releases){0};
}

/* The place of the first key that is not below `key`. Under the lock, as all that reads the list. */
static size_t index_of(const struct wsh_releases *releases, uint64_t key)
{
    size_t low = 0, high = releases->n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (releases->list[mid].key < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int make_room(struct wsh_releases *releases)
{
    size_t room = releases->room ? 2 * releases->room : 64;
    struct wsh_release *list = releases->list;

    if (releases->n < releases->room)
        return 0;
    list = realloc(list, room * sizeof *list);
    if (!list)
        return -ENOMEM;
    releases->list = list;
    releases->room = room;
    return 0;
}

/* There is room. */
static void note(struct wsh_releases *releases, uint64_t key, size_t off)
{
    size_t at = index_of(releases, key);

    memmove(releases->list + at + 1, releases->list + at, (releases->n - at) * sizeof *releases->list);
    WSH_INVARIANT(!at || releases->list[at - 1].key < key);
    releases->list[at] = (struct wsh_release){key, off};
    releases->n++;
    releases->fresh = true;
}

int wsh_release(struct wsh_job *job, const void *ptr, const char *routine)
{
    struct wsh_releases *releases = &job->releases;
    const bool device = wsh_device_ops()->holds(job, ptr);
    const char *base = device ? job->device.heap.mem.base : job->heap.seg[WSH_SEG_HEAP].base;
    const size_t off = (size_t)((const char *)ptr - base);
    uint64_t number = 0;
    int rc;

    pthread_mutex_lock(&releases->lock);
    rc = make_room(releases);
    if (!rc)
        number = wsh_alloc_release(device ? job->device.heap.alloc : job->heap.alloc, off);
    if (number)
        note(releases, 2 * number + device, off);
    pthread_mutex_unlock(&releases->lock);
    if (rc)
        wsh_error("%s: no memory to note what is released; leave the host more free memory", routine);
    else if (!number)
        wsh_error(
            "%s: %p is not the start of a live symmetric allocation; pass what an allocation returned, once",
            routine, ptr);
    return rc || number ? rc : -EINVAL;
}

/* The marks of one allocator, of which those of device memory have odd keys. Under the lock. */
static int marks_note(struct wsh_releases *releases, struct wsh_alloc *alloc, bool device)
{
    size_t n;
    uint64_t numbers;
    struct wsh_alloc_range *list = wsh_alloc_list(alloc, &n, &numbers);
    int rc = list ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && !rc; i++) {
        if (!(list[i].number & 1))
            continue;
        rc = make_room(releases);
        if (!rc)
            note(releases, 2 * (list[i].number >> 1) + device, list[i].off);
    }
    free(list);
    return rc;
}

int wsh_releases_restore(struct wsh_job *job)
{
    struct wsh_releases *releases = &job->releases;
    int rc;

    pthread_mutex_lock(&releases->lock);
    releases->n = 0;
    rc = marks_note(releases, job->heap.alloc, false);
    if (!rc && job->device.attached)
        rc = marks_note(releases, job->device.heap.alloc, true);
    releases->fresh = true; /* all PEs look together again */
    pthread_mutex_unlock(&releases->lock);
    return rc;
}

/* The lowest key from `from` on, or NONE. */
static uint64_t first_from(struct wsh_releases *releases, uint64_t from)
{
    uint64_t key = NONE;
    size_t at;

    pthread_mutex_lock(&releases->lock);
    at = index_of(releases, from);
    if (at < releases->n)
        key = releases->list[at].key;
    pthread_mutex_unlock(&releases->lock);
    return key;
}

/* A bit for each key of the window. */
static void mark(struct wsh_releases *releases, uint64_t from, uint64_t bits[WORDS])
{
    memset(bits, 0, WORDS * sizeof *bits);
    pthread_mutex_lock(&releases->lock);
    for (size_t at = index_of(releases, from); at < releases->n; at++) {
        uint64_t bit = releases->list[at].key - from;

        if (bit >= WINDOW)
            break;
        bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    pthread_mutex_unlock(&releases->lock);
}

/* Frees those with a bit, in the order of their keys, and takes them off the list. */
static void sweep(struct wsh_job *job, uint64_t from, const uint64_t bits[WORDS])
{
    struct wsh_releases *releases = &job->releases;
    size_t kept, at;

    pthread_mutex_lock(&releases->lock);
    kept = at = index_of(releases, from);
    for (; at < releases->n; at++) {
        const struct wsh_release *one = &releases->list[at];
        const uint64_t bit = one->key - from;

        if (bit < WINDOW && bits[bit / 64] >> bit % 64 & 1)
            wsh_alloc_put(one->key & 1 ? job->device.heap.alloc : job->heap.alloc, one->off);
        else
            releases->list[kept++] = *one;
    }
    releases->n = kept;
    pthread_mutex_unlock(&releases->lock);
}

static int combine(struct wsh_job *job, uint64_t *words, size_t n, enum wsh_reduce op, const char *routine)
{
    if (job->all->n_pes == 1)
        return 0;
    return wsh_reduce_small(job->all, words, words, n, wsh_arith_find(op, WSH_NUM_U64), routine);
}

/*
 * Proceeds window by window. Each begins at the highest of the PEs' lowest keys: before that, nothing is released by
 * all. A PE that has released nothing more ends it. words[1]: whether a PE has passed ok = false.
 */
static int agree(struct wsh_job *job, bool *ok, const char *routine)
{
    uint64_t words[2] = {first_from(&job->releases, 0), !*ok}, bits[WORDS];
    int rc = combine(job, words, 2, WSH_REDUCE_MAX, routine);

    *ok = !words[1];
    while (!rc && words[0] != NONE) {
        mark(&job->releases, words[0], bits);
        rc = combine(job, bits, WORDS, WSH_REDUCE_AND, routine);
        if (rc)
            break;
        sweep(job, words[0], bits);
        words[0] = first_from(&job->releases, words[0] + WINDOW);
        rc = combine(job, words, 1, WSH_REDUCE_MAX, routine);
    }
    return rc;
}

static bool take_fresh(struct wsh_releases *releases)
{
    bool fresh;

    pthread_mutex_lock(&releases->lock);
    fresh = releases->fresh;
    releases->fresh = false;
    pthread_mutex_unlock(&releases->lock);
    return fresh;
}

int wsh_release_barrier(struct wsh_job *job, bool ok, bool *all_ok, const char *routine)
{
    bool quiet = !take_fresh(&job->releases) && ok, all_quiet = true;
    int rc = wsh_quiet(&job->ctx);

    if (!rc)
        rc = wsh_agree(job->all, quiet, &all_quiet);
    if (!rc && !all_quiet)
        rc = agree(job, &ok, routine);
    if (all_ok)
        *all_ok = ok;
    return rc;
}
