/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines the numbers of a group of members, each one slice; for rails, first inside hosts and then across them. */
#include "runtime/coll/algorithms/reduce_slices.h"

#include "runtime/coll/memory/blocks.h"
#include "runtime/coll/algorithms/slices.h"
#include "runtime/op/op.h"
#include "runtime/op/order.h"

#include <string.h>

#define BATCH 64 /* members whose blocks are fetched at the same time, at most */

/* Members that combine their numbers; this PE is members[me]. */
struct group {
    struct wsh_team *team;
    const int *members;
    int n, me;
};

/* Bytes [begin, end) of dest and src. */
struct range {
    size_t begin, end;
};

static int group_turn(const struct group *group, int k)
{
    return group->members[(group->me + k) % group->n];
}

static struct range group_slice(const struct group *group, int k, const struct range *all)
{
    struct range slice;

    wsh_slice(group->n, k, all->end - all->begin, &slice.begin, &slice.end);
    slice.begin += all->begin;
    slice.end += all->begin;
    return slice;
}

/* Bytes [at, at + len) of dest, and members [k, k + n) behind me, whose numbers are combined there next. */
struct step {
    size_t at, len;
    int k, n;
    const void *theirs[BATCH];
    struct wsh_done done; /* they have arrived */
};

/* A slice in progress: the next step is fetched while one is combined. */
struct work {
    const struct group *group;
    const struct wsh_arith *arith;
    char *dest;
    const char *src;
    size_t at, end; /* of my slice: behind the steps that have been started */
    int k;
};

/* False: there is no further step. */
static bool step_begin(struct work *work, struct step *step, char *scratch, int *rc)
{
    const struct group *group = work->group;
    int batch;

    if (work->at >= work->end || *rc)
        return false;
    step->at = work->at;
    step->len = work->end - work->at < WSH_SLICE_BLOCK ? work->end - work->at : WSH_SLICE_BLOCK;
    step->k = work->k;
    batch = wsh_slice_batch(step->len) < BATCH ? wsh_slice_batch(step->len) : BATCH;
    step->n = batch < group->n - step->k ? batch : group->n - step->k;
    for (int i = 0; i < step->n && !*rc; i++)
        *rc = wsh_slice_fetch(group->team, group_turn(group, step->k + i), work->src + step->at, step->len,
                              scratch + (size_t)i * step->len, &step->theirs[i], &step->done);
    work->k += step->n;
    if (work->k >= group->n) {
        work->k = 1;
        work->at += step->len;
    }
    return true;
}

/* dest holds what was combined so far; k = 1: my own is src. `all_get`: every member gets what is complete. */
static int step_end(const struct work *work, const struct step *step, bool all_get)
{
    const struct group *group = work->group;
    char *dest = work->dest + step->at;
    int rc = wsh_op_wait(group->team->job, &step->done, WSH_REDUCE_ROUTINE);

    for (int i = 0; i < step->n && !rc; i++)
        work->arith->combine(dest, step->k + i == 1 ? work->src + step->at : dest, step->theirs[i],
                             step->len / work->arith->width);
    for (int k = 1; k < group->n && all_get && step->k + step->n == group->n && !rc; k++)
        rc = wsh_slice_write(group->team, group_turn(group, k), dest, dest, step->len);
    return rc;
}

/* My slice of the range, combined in my dest block by block; no other member touches it meanwhile. */
static int slice_combine(const struct group *group, const struct wsh_arith *arith, char *dest,
                         const char *src, const struct range *range, bool all_get)
{
    _Alignas(WSH_SYNC_AREA_LINE) char scratch[2][WSH_SLICE_BLOCK];
    const struct range mine = group_slice(group, group->me, range);
    struct work work = {group, arith, dest, src, mine.begin, group->n > 1 ? mine.end : mine.begin, 1};
    struct step steps[2] = {0};
    int rc = 0, now = 0;
    bool more = step_begin(&work, &steps[now], scratch[now], &rc);

    while (more) {
        more = step_begin(&work, &steps[!now], scratch[!now], &rc);
        rc = step_end(&work, &steps[now], all_get) ?: rc;
        more &= !rc;
        now = !now;
    }
    return rc || !all_get ? rc : wsh_quiet(&group->team->coll->ctx);
}

/* Over a network, the flag of a slice also says that its member has read all that it needs. */
static int slices_exchange(const struct group *all, const struct wsh_numbers *numbers, char *dest,
                           const char *src)
{
    const struct range range = {0, numbers->len}, mine = group_slice(all, all->me, &range);
    const struct wsh_blocks blocks = wsh_blocks_begin(all->team, WSH_REDUCE_ROUTINE);
    int rc = slice_combine(all, numbers->arith, dest, src, &range, false);

    for (int k = 1; k < all->n && !rc; k++)
        rc = wsh_blocks_send(&blocks, dest + mine.begin, dest + mine.begin, mine.end - mine.begin,
                             group_turn(all, k));
    return rc ? rc : wsh_blocks_end(&blocks);
}

/*
 * Two members that share no memory: each writes the half that the other combines into the other's dest, where it is
 * combined, and then its own half. The program guarantees that dest is ready on all PEs. In-place reductions have no
 * room for this.
 */
int wsh_reduce_pair(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers)
{
    const struct group all = {team, team->coll->all, team->n_pes, team->my_pe};
    const struct range range = {0, numbers->len}, mine = group_slice(&all, all.me, &range),
                       theirs = group_slice(&all, !all.me, &range);
    size_t len = mine.end - mine.begin;
    struct wsh_blocks blocks;
    int other = !all.me, rc;

    if (dest == src)
        return wsh_reduce_slices(team, dest, src, numbers);
    blocks = wsh_blocks_begin(team, WSH_REDUCE_ROUTINE);
    rc = wsh_blocks_send(&blocks, dest + theirs.begin, src + theirs.begin, theirs.end - theirs.begin, other);
    if (!rc)
        rc = wsh_blocks_take(&blocks, &other, 1);
    if (rc)
        return rc;
    numbers->arith->combine(dest + mine.begin, src + mine.begin, dest + mine.begin,
                            len / numbers->arith->width);
    blocks = wsh_blocks_begin(team, WSH_REDUCE_ROUTINE);
    rc = wsh_blocks_send(&blocks, dest + mine.begin, dest + mine.begin, len, other);
    return rc ? rc : wsh_blocks_end(&blocks);
}

/* The same in one step: each writes all that it has into the other's dest. */
int wsh_reduce_whole(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers)
{
    struct wsh_blocks blocks;
    int rc;

    if (dest == src)
        return wsh_reduce_slices(team, dest, src, numbers);
    blocks = wsh_blocks_begin(team, WSH_REDUCE_ROUTINE);
    rc = wsh_blocks_send(&blocks, dest, src, numbers->len, !team->my_pe);
    if (!rc)
        rc = wsh_blocks_end(&blocks);
    if (!rc) /* in the same order at both, which then have the same result */
        numbers->arith->combine(dest, team->my_pe ? dest : src, team->my_pe ? src : dest, numbers->n);
    return rc;
}

/* The first sync says that every src and dest is ready, the second that every slice is written. */
int wsh_reduce_slices(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers)
{
    const struct group all = {team, team->coll->all, team->n_pes, team->my_pe};
    const struct range range = {0, numbers->len};
    int rc = wsh_sync(team, WSH_REDUCE_ROUTINE);

    if (!rc && team->coll->layout == WSH_LAYOUT_APART)
        return slices_exchange(&all, numbers, dest, src);
    if (!rc)
        rc = slice_combine(&all, numbers->arith, dest, src, &range, true);
    return rc ? rc : wsh_sync(team, WSH_REDUCE_ROUTINE);
}

/* The slices of the others on my host to my dest. */
static int slices_take(const struct group *host, char *dest, const struct range *all)
{
    struct wsh_done done = {0};
    int rc = 0;

    for (int k = 1; k < host->n && !rc; k++) {
        int i = (host->me + k) % host->n;
        struct range slice = group_slice(host, i, all);
        size_t len = slice.end - slice.begin;
        const void *theirs = dest + slice.begin;

        if (len)
            rc = wsh_slice_fetch(host->team, host->members[i], theirs, len, dest + slice.begin, &theirs,
                                 &done);
        if (!rc && theirs != dest + slice.begin)
            memcpy(dest + slice.begin, theirs, len);
    }
    return rc ? rc : wsh_op_wait(host->team->job, &done, WSH_REDUCE_ROUTINE);
}

/* A sync before each step says that the step before it is over everywhere. */
int wsh_reduce_rails(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers)
{
    const struct wsh_coll *coll = team->coll;
    const struct group host = {team, coll->local, coll->n_local, coll->my_local};
    const struct group rail = {team, coll->column, coll->n_domains, coll->my_domain};
    const struct range all = {0, numbers->len}, mine = group_slice(&host, host.me, &all);
    int rc = wsh_sync(team, WSH_REDUCE_ROUTINE);

    if (!rc)
        rc = slice_combine(&host, numbers->arith, dest, src, &all, false);
    if (!rc)
        rc = wsh_sync(team, WSH_REDUCE_ROUTINE);
    if (!rc)
        rc = slice_combine(&rail, numbers->arith, dest, dest, &mine, true);
    if (!rc)
        rc = wsh_sync(team, WSH_REDUCE_ROUTINE);
    if (!rc)
        rc = slices_take(&host, dest, &all);
    return rc ? rc : wsh_sync(team, WSH_REDUCE_ROUTINE);
}
