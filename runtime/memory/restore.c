/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes the list of the leader's ranges on, by small reductions: to these the others give zeros. */
#include "runtime/memory/restore.h"

#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/job/job.h"
#include "runtime/memory/alloc.h"
#include "runtime/memory/commit.h"
#include "runtime/memory/free_later.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROUTINE "shmemx_team_shrink"
#define WORDS (WSH_LL_DATA / sizeof(uint64_t)) /* of one reduction */
#define RANGE_WORDS (sizeof(struct wsh_alloc_range) / sizeof(uint64_t))

/* What comes before the list. */
struct head {
    uint64_t n, numbers, committed, finished;
};

static int words_pass(struct wsh_team *team, uint64_t *words, size_t n, bool leads)
{
    const struct wsh_arith *combine = wsh_arith_find(WSH_REDUCE_OR, WSH_NUM_U64);
    int rc = 0;

    if (!leads)
        memset(words, 0, n * sizeof *words);
    for (size_t at = 0; at < n && !rc; at += WORDS) {
        size_t some = n - at < WORDS ? n - at : WORDS;

        rc = wsh_reduce_small(team, words + at, words + at, some, combine, ROUTINE);
    }
    return rc;
}

/* `list`, malloc'd, is mine and becomes the leader's. */
static int list_pass(struct wsh_team *team, struct head *head, struct wsh_alloc_range **list, bool leads)
{
    int rc = words_pass(team, (uint64_t *)head, sizeof *head / sizeof(uint64_t), leads);

    if (rc)
        return rc;
    if (!leads) {
        free(*list);
        *list = calloc(head->n + 1, sizeof **list);
    }
    if (!*list)
        return -ENOMEM;
    rc = words_pass(team, (uint64_t *)*list, head->n * RANGE_WORDS, leads);
    return rc ? rc : wsh_sync(team, ROUTINE);
}

/* One allocator becomes the leader's; *head too. */
static int alloc_pass(struct wsh_job *job, struct wsh_team *team, int leader, struct wsh_alloc *alloc,
                      struct head *head)
{
    size_t n;
    struct wsh_alloc_range *list = wsh_alloc_list(alloc, &n, &head->numbers);
    int rc = list ? 0 : -ENOMEM;

    head->n = n;
    if (!rc)
        rc = list_pass(team, head, &list, leader == job->my_pe);
    if (!rc)
        rc = wsh_alloc_restore(alloc, list, head->n, head->numbers);
    free(list);
    return rc;
}

/* Memory behind it too; it is there already, unless what this PE has finished is less than it knows. */
static int heap_apply(struct wsh_job *job, const struct head *head)
{
    struct wsh_heap *heap = &job->heap;
    int rc = wsh_releases_restore(job);

    if (!rc)
        rc = wsh_heap_commit(heap, head->committed, job->local_size);
    if (rc)
        return rc;
    heap->committed = head->committed;
    heap->finished = head->finished;
    return 0;
}

int wsh_heap_restore(struct wsh_job *job, struct wsh_team *team, int leader)
{
    struct head head = {.committed = job->heap.committed, .finished = job->heap.finished}, of_device = {0};
    int rc = alloc_pass(job, team, leader, job->heap.alloc, &head);

    if (!rc && job->device.attached)
        rc = alloc_pass(job, team, leader, job->device.heap.alloc, &of_device);
    if (!rc)
        rc = heap_apply(job, &head);
    if (rc == -ENOMEM) {
        wsh_error(ROUTINE ": no memory for the list of allocations; leave the host more free memory");
        wsh_abort(1);
    }
    return rc;
}
