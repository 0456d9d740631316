/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how a group of members combines numbers, each one slice, and how two kinds of groups follow each other. */
#include "runtime/coll/reduce_slices.h"

#include "runtime/coll/slices.h"
#include "runtime/order.h"

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

static int turn(const struct group *group, int k)
{
    return group->members[(group->me + k) % group->n];
}

static struct range slice_of(const struct group *group, int k, const struct range *all)
{
    struct range slice;

    wsh_slice(group->n, k, all->end - all->begin, &slice.begin, &slice.end);
    slice.begin += all->begin;
    slice.end += all->begin;
    return slice;
}

/* The blocks of members [k, k + n) behind me to dest, which holds what was combined so far; k = 1: my own is src. */
static int combine_batch(const struct group *group, const struct wsh_numbers *numbers, char *dest,
                         const char *src, int k, int n)
{
    _Alignas(WSH_PAD_LINE) char scratch[WSH_SLICE_BLOCK];
    const void *theirs[BATCH];
    int rc = 0;

    for (int i = 0; i < n && !rc; i++)
        rc = wsh_slice_read(group->team, turn(group, k + i), src, numbers->len,
                            scratch + (size_t)i * numbers->len, &theirs[i]);
    if (!rc)
        rc = wsh_quiet(&group->team->coll->ctx);
    for (int i = 0; i < n && !rc; i++)
        numbers->arith->combine(dest, k + i == 1 ? src : dest, theirs[i], numbers->n);
    return rc;
}

/* One block of all members, worked out in my dest. Nobody else touches it meanwhile. */
static int combine_block(const struct group *group, const struct wsh_numbers *numbers, char *dest,
                         const char *src)
{
    int batch = wsh_slice_batch(numbers->len), rc = 0;

    batch = batch < BATCH ? batch : BATCH;
    for (int k = 1; k < group->n && !rc; k += batch)
        rc = combine_batch(group, numbers, dest, src, k, k + batch <= group->n ? batch : group->n - k);
    return rc;
}

/* My slice of the range, worked out block by block; `all_get`: every member gets it. */
static int combine(const struct group *group, const struct wsh_arith *arith, char *dest, const char *src,
                   const struct range *range, bool all_get)
{
    struct range mine = slice_of(group, group->me, range);
    int rc = 0;

    for (size_t at = mine.begin; at < mine.end && !rc; at += WSH_SLICE_BLOCK) {
        size_t len = mine.end - at < WSH_SLICE_BLOCK ? mine.end - at : WSH_SLICE_BLOCK;
        const struct wsh_numbers block = {arith, len / arith->width, len};

        rc = combine_block(group, &block, dest + at, src + at);
        for (int k = 1; k < group->n && all_get && !rc; k++)
            rc = wsh_slice_write(group->team, turn(group, k), dest + at, dest + at, len);
    }
    return rc ? rc : wsh_quiet(&group->team->coll->ctx);
}

/* The first sync says that every src and dest is ready, the second that every slice is written. */
int wsh_reduce_slices(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers)
{
    const struct group all = {team, team->coll->all, team->n_pes, team->my_pe};
    const struct range range = {0, numbers->len};
    int rc = wsh_sync(team, WSH_REDUCE_ROUTINE);

    if (!rc)
        rc = combine(&all, numbers->arith, dest, src, &range, true);
    return rc ? rc : wsh_sync(team, WSH_REDUCE_ROUTINE);
}

/* The slices of the others on my host to my dest. */
static int take_slices(const struct group *host, char *dest, const struct range *all)
{
    int rc = 0;

    for (int k = 1; k < host->n && !rc; k++) {
        int i = (host->me + k) % host->n;
        struct range slice = slice_of(host, i, all);
        size_t len = slice.end - slice.begin;
        const void *theirs = dest + slice.begin;

        if (len)
            rc = wsh_slice_read(host->team, host->members[i], theirs, len, dest + slice.begin, &theirs);
        if (!rc && theirs != dest + slice.begin)
            memcpy(dest + slice.begin, theirs, len);
    }
    return rc ? rc : wsh_quiet(&host->team->coll->ctx);
}

/* A sync before each step says that the step before it is over everywhere. */
int wsh_reduce_rails(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers)
{
    const struct wsh_coll *coll = team->coll;
    const struct group host = {team, coll->local, coll->n_local, coll->my_local};
    const struct group rail = {team, coll->column, coll->n_domains, coll->my_domain};
    const struct range all = {0, numbers->len}, mine = slice_of(&host, host.me, &all);
    int rc = wsh_sync(team, WSH_REDUCE_ROUTINE);

    if (!rc)
        rc = combine(&host, numbers->arith, dest, src, &all, false);
    if (!rc)
        rc = wsh_sync(team, WSH_REDUCE_ROUTINE);
    if (!rc)
        rc = combine(&rail, numbers->arith, dest, dest, &mine, true);
    if (!rc)
        rc = wsh_sync(team, WSH_REDUCE_ROUTINE);
    if (!rc)
        rc = take_slices(&host, dest, &all);
    return rc ? rc : wsh_sync(team, WSH_REDUCE_ROUTINE);
}
