/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the root's data down a tree of memory domains, and from one member of each to the others. */
#include "runtime/coll/coll.h"

#include "runtime/coll/choose/dispatch.h"
#include "runtime/coll/memory/share.h"
#include "runtime/job/job.h"

/* Domain number `turn` counted from the root's, and the member that receives for it. */
static int domain_receiver(const struct wsh_coll *coll, int root, int turn)
{
    return turn ? coll->leader[(coll->domain[root] + turn) % coll->n_domains] : root;
}

const int wsh_tree_base[WSH_ALGOS] = {[WSH_ALGO_FANS] = WSH_SYNC_AREA_FAN, [WSH_ALGO_ROUNDS] = 2};

/*
 * A turn is a number in base `base`: my parent's is mine without its lowest nonzero digit, my children's have one more
 * digit below that. `base` 2 is a binomial tree.
 */
static int tree_send(struct wsh_team *team, const struct wsh_share *share, int root)
{
    const struct wsh_coll *coll = team->coll;
    enum wsh_layout layout = team->job->oversubscribed ? WSH_LAYOUT_FEW_CORES : coll->layout;
    long n = coll->n_domains, turn = (coll->my_domain - coll->domain[root] + n) % n, unit = 1, base;
    int rc = 0;

    if (n == 1)
        return 0;
    base = wsh_tree_base[wsh_choice_find(WSH_COLL_TREE, layout, (int)n, share->len)->algo];
    while (unit < n && turn % (unit * base) == 0)
        unit *= base;
    if (turn)
        rc = wsh_share_take(team, share, domain_receiver(coll, root, (int)(turn - turn % (unit * base))));
    for (unit /= base; unit && !rc; unit /= base)
        for (long to = turn + unit; to < turn + base * unit && to < n && !rc; to += unit)
            rc = wsh_share_send(team, share, turn ? share->to : share->from,
                                domain_receiver(coll, root, (int)to));
    return rc;
}

/* The root copies its own data last; a GPU does so beside the copies for others. */
int wsh_broadcast(struct wsh_team *team, void *dest, const void *src, size_t len, int root, bool root_too)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_share share = {.routine = "shmem_broadcast", .to = dest, .len = len};
    bool keeps = root_too && root == team->my_pe && dest != src,
         beside = keeps && !wsh_coll_is_host(team, dest);
    int rc;

    share.rep = coll->my_domain == coll->domain[root] ? root : coll->leader[coll->my_domain];
    share.from = share.rep == root ? src : dest;
    rc = wsh_share_begin(team, &share);
    if (!rc && beside)
        rc = wsh_coll_copy_beside(team, dest, src, len);
    if (!rc && share.rep == team->my_pe)
        rc = tree_send(team, &share, root);
    if (!rc)
        rc = wsh_share(team, &share);
    if (!rc && keeps && !beside)
        rc = wsh_coll_copy_own(team, dest, src, len);
    return rc ? rc : wsh_coll_sent(coll);
}
