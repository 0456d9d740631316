/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds ranges that are free at all members of a team, notes them, and puts memory behind them. */
#include "runtime/memory/team_memory.h"

#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/memory/alloc.h"
#include "runtime/memory/commit.h"

#include <stdlib.h>
#include <string.h>

#define NONE WSH_ALLOC_NONE

void wsh_team_memory_open(struct wsh_team_memory *memory)
{
    *memory = (struct wsh_team_memory){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void wsh_team_memory_close(struct wsh_team_memory *memory)
{
    free(memory->list);
    *memory = (struct wsh_team_memory){0};
}

/* Where a range may lie here. */
struct search {
    struct wsh_job *job;
    struct wsh_alloc_range *live; /* what all PEs have there */
    size_t n_live;
    size_t len, align; /* of the range */
    size_t first, end; /* it lies in [first, end) */
    bool device;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Under the lock. The first range of a team that meets [off, off + len), or NONE. */
static size_t team_range_begin(const struct search *search, size_t off)
{
    const struct wsh_team_memory *memory = &search->job->team_memory;
    size_t begin = NONE;

    for (size_t i = 0; i < memory->n; i++) {
        const struct wsh_team_range *one = &memory->list[i];

        if (one->device == search->device && one->off < off + search->len && off < one->off + one->len)
            begin = least(begin, one->off);
    }
    return begin;
}

static size_t live_begin(const struct search *search, size_t off)
{
    size_t begin = NONE;

    for (size_t i = 0; i < search->n_live; i++)
        if (search->live[i].off < off + search->len && off < search->live[i].off + search->live[i].len)
            begin = least(begin, search->live[i].off);
    return begin;
}

/*
 * No range crosses from one piece of the device heap, a segment each, into the next, nor on the host from what is
 * committed for all PEs, which an attach pins, into what is not.
 */
static size_t piece_begin(const struct search *search, size_t off)
{
    const struct wsh_gpu_mem *mem = &search->job->device.heap.mem;
    const size_t committed = search->job->heap.committed;
    size_t at = 0, begin = NONE;

    if (!search->device)
        return off < committed && committed < off + search->len ? committed : NONE;
    for (unsigned i = 0; i < mem->n; at += mem->piece[i++].len)
        if (off < at && at < off + search->len)
            begin = least(begin, at);
    return begin;
}

/* The highest offset below search->end - len at which nothing is in the way here, or NONE. */
static size_t range_find(const struct search *search)
{
    size_t end = search->end, off, begin;

    pthread_mutex_lock(&search->job->team_memory.lock);
    do {
        off = end < search->len ? NONE : (end - search->len) & ~(search->align - 1);
        if (off == NONE || off < search->first) {
            off = NONE;
            break;
        }
        begin =
            least(least(team_range_begin(search, off), live_begin(search, off)), piece_begin(search, off));
        end = begin;
    } while (begin != NONE);
    pthread_mutex_unlock(&search->job->team_memory.lock);
    return off;
}

/* Members agree on the highest offset that is free at all of them: each round begins below the lowest of their own. */
static size_t range_agree(struct wsh_team *team, struct search *search, const char *routine)
{
    const struct wsh_arith *min = wsh_arith_find(WSH_REDUCE_MIN, WSH_NUM_U64);

    for (;;) {
        size_t off = range_find(search);
        uint64_t words[2] = {off + 1, ~(uint64_t)(off + 1)}; /* NONE is 0 */

        if (wsh_reduce_small(team, words, words, 2, min, routine) || !words[0])
            return NONE;
        if (words[0] == ~words[1])
            return off;
        search->end = (size_t)words[0] - 1 + search->len;
    }
}

static int range_note(struct wsh_job *job, const struct wsh_team_range *range)
{
    struct wsh_team_memory *memory = &job->team_memory;
    struct wsh_team_range *list = memory->list;

    pthread_mutex_lock(&memory->lock);
    if (memory->n == memory->room)
        list = realloc(list, (memory->room + 16) * sizeof *list);
    if (list && list != memory->list)
        memory->list = list;
    if (list && memory->n == memory->room)
        memory->room += 16;
    if (list)
        list[memory->n++] = *range;
    pthread_mutex_unlock(&memory->lock);
    return list ? 0 : -ENOMEM;
}

/* False: no range begins there. */
static bool range_forget(struct wsh_job *job, bool device, size_t off)
{
    struct wsh_team_memory *memory = &job->team_memory;
    size_t i = 0;
    bool found;

    pthread_mutex_lock(&memory->lock);
    while (i < memory->n && (memory->list[i].device != device || memory->list[i].off != off))
        i++;
    found = i < memory->n;
    if (found)
        memory->list[i] = memory->list[--memory->n];
    pthread_mutex_unlock(&memory->lock);
    return found;
}

/* Takes the range on every member or on none. */
static bool range_take(struct wsh_team *team, const struct wsh_team_range *range)
{
    struct wsh_job *job = team->job;
    int rc = range_note(job, range);
    bool all_ok = false;

    if (!rc && !range->device) {
        rc = wsh_heap_commit_range(&job->heap, range->off, range->len, job->local_size);
        if (rc)
            range_forget(job, false, range->off);
    }
    if (wsh_agree(team, !rc, &all_ok))
        all_ok = false;
    if (!all_ok && !rc)
        range_forget(job, range->device, range->off);
    return all_ok;
}

static size_t round_up(size_t len, size_t to)
{
    return (len + to - 1) & ~(to - 1);
}

/*
 * Anywhere in the host heap; but with a GPU attached above what is committed for all PEs, where nothing is pinned. On
 * the device where there is memory.
 */
static int search_begin(struct search *search, struct wsh_job *job, size_t size, bool device)
{
    size_t align = !device && job->env.huge_pages == WSH_ON ? job->heap.page : WSH_TEAM_MEMORY_ALIGN;
    uint64_t numbers;

    *search = (struct search){.job = job, .len = round_up(size, align), .align = align, .device = device};
    search->first = device || !job->device.attached ? 0 : job->heap.committed;
    search->end = device ? job->device.heap.mem.len : job->heap.seg[WSH_SEG_HEAP].len;
    search->live =
        wsh_alloc_list(device ? job->device.heap.alloc : job->heap.alloc, &search->n_live, &numbers);
    return search->live ? 0 : -ENOMEM;
}

static void log_no_room(const struct wsh_team *team, size_t size, bool device, const char *routine)
{
    if (team->my_pe)
        return;
    if (device && !team->job->device.attached)
        wsh_warn("%s: the GPU is not attached, which all PEs do together; call shmemx_malloc_device on all "
                 "PEs before, or shmemx_init_attr with SHMEMX_INIT_ATTACH_GPU",
                 routine);
    else
        wsh_warn("%s: no room for %zu bytes at the same place on all %d PEs of the team; set %s to more on "
                 "all PEs",
                 routine, size, team->n_pes, device ? "SHMEM_DEVICE_SYMMETRIC_SIZE" : "SHMEM_SYMMETRIC_SIZE");
}

static char *base_of(const struct wsh_job *job, bool device)
{
    return device ? job->device.heap.mem.base : job->heap.seg[WSH_SEG_HEAP].base;
}

void *wsh_team_malloc(struct wsh_team *team, size_t size, bool device, const char *routine)
{
    struct wsh_job *job = team->job;
    struct wsh_team_range range = {NONE, 0, device};
    struct search search;
    bool ok = size <= SIZE_MAX / 2 && (!device || job->device.attached) &&
              !search_begin(&search, job, size, device);

    if (ok) {
        range.off = range_agree(team, &search, routine);
        range.len = search.len;
        free(search.live);
    }
    if (range.off != NONE && range_take(team, &range))
        return base_of(job, device) + range.off;
    log_no_room(team, size, device, routine);
    return NULL;
}

int wsh_team_free(struct wsh_team *team, void *ptr)
{
    static const char routine[] = "shmemx_team_free";
    struct wsh_job *job = team->job;
    bool device = wsh_device_ops()->holds(job, ptr);
    int rc = wsh_barrier(team, routine);

    if (rc && !wsh_coll_met_failure(team, routine, rc))
        return -EIO;
    if (range_forget(job, device, (size_t)((char *)ptr - base_of(job, device))))
        return 0;
    wsh_error(
        "%s: %p is not the start of memory that teams have; pass what shmemx_team_malloc returned, once",
        routine, ptr);
    return -EINVAL;
}

size_t wsh_team_memory_end(struct wsh_job *job, bool device, size_t off, size_t len)
{
    struct wsh_team_memory *memory = &job->team_memory;
    size_t end = 0;

    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < memory->n; i++) {
        const struct wsh_team_range *one = &memory->list[i];

        if (one->device == device && one->off < off + len && off < one->off + one->len &&
            end < one->off + one->len)
            end = one->off + one->len;
    }
    pthread_mutex_unlock(&memory->lock);
    return end;
}

bool wsh_team_memory_has(struct wsh_job *job, const void *ptr)
{
    bool device = wsh_device_ops()->holds(job, ptr);

    return wsh_team_memory_end(job, device, (size_t)((const char *)ptr - base_of(job, device)), 1);
}

int wsh_team_memory_end_anywhere(struct wsh_job *job, bool device, size_t off, size_t len, size_t *end,
                                 const char *routine)
{
    uint64_t word = wsh_team_memory_end(job, device, off, len);
    int rc = job->all->n_pes == 1 ? 0
                                  : wsh_reduce_small(job->all, &word, &word, 1,
                                                     wsh_arith_find(WSH_REDUCE_MAX, WSH_NUM_U64), routine);

    *end = (size_t)word;
    return rc;
}

bool wsh_team_memory_is_live(struct wsh_job *job, size_t off, size_t len)
{
    struct wsh_team_memory *memory = &job->team_memory;
    bool live = false;

    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < memory->n && !live; i++) {
        const struct wsh_team_range *one = &memory->list[i];

        live = !one->device && off >= one->off && off - one->off <= one->len &&
               len <= one->len - (off - one->off);
    }
    pthread_mutex_unlock(&memory->lock);
    return live;
}
