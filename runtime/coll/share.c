/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the ways in a memory domain: shown in a ring slot, pushed by the one who has it, or read by all at once. */
#include "runtime/coll/share.h"

#include "runtime/coll/hear.h"
#include "runtime/order.h"
#include "runtime/rma.h"

#include <string.h>

/* A GPU's memory is written at once: by way of the slot it would take two copies by the GPU, one after the other. */
static bool fits_slot(const struct wsh_team *team, const struct wsh_share *share)
{
    return share->len <= WSH_RING_DATA && wsh_coll_is_host(team, share->to);
}

int wsh_share_send(struct wsh_team *team, const struct wsh_share *share, const void *data, int member)
{
    struct wsh_coll *coll = team->coll;
    size_t slot = wsh_coll_slot_at(coll, share->slot);
    const struct wsh_signal signal = wsh_coll_word(coll, slot, share->slot);
    void *to = fits_slot(team, share) ? ((struct wsh_cell *)(coll->base + slot))->data : share->to;

    return wsh_coll_send(coll, to, data, share->len, &signal, member);
}

int wsh_share_take(struct wsh_team *team, const struct wsh_share *share, int sender)
{
    size_t slot = wsh_coll_slot_at(team->coll, share->slot);
    int rc = wsh_hear_one(team, sender, slot, share->slot, share->routine);

    if (rc || !fits_slot(team, share))
        return rc;
    return wsh_coll_copy_own(team, share->to, ((struct wsh_cell *)(team->coll->base + slot))->data,
                             share->len);
}

/* One store, however many read: rep's own slot, which what came down the tree is in already. */
static int show(struct wsh_team *team, const struct wsh_share *share)
{
    const struct wsh_cell *slot =
        (const struct wsh_cell *)(team->coll->base + wsh_coll_slot_at(team->coll, share->slot));

    return slot->flag == share->slot ? 0 : wsh_share_send(team, share, share->from, team->my_pe);
}

static int look(struct wsh_team *team, const struct wsh_share *share)
{
    const struct wsh_coll *coll = team->coll;
    size_t slot = wsh_coll_slot_at(coll, share->slot);
    struct wsh_hear hear = {
        .team = team, .members = &share->rep, .n = 1, .off = slot, .there = true, .want = share->slot};
    int rc = wsh_hear_all(&hear, share->routine);

    if (rc)
        return rc;
    return wsh_coll_copy_own(team, share->to, ((struct wsh_cell *)(coll->peer[share->rep] + slot))->data,
                             share->len);
}

/* The GPU is waited for once, not for each member. */
static int push_device(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    const struct wsh_signal signal = wsh_coll_word(coll, wsh_coll_slot_at(coll, share->slot), share->slot);
    int rc = 0;

    for (int i = 0; i < coll->n_local && !rc; i++)
        if (coll->local[i] != team->my_pe)
            rc = wsh_put_nbi(&coll->ctx, share->to, share->from, share->len, coll->local[i]);
    if (!rc)
        rc = wsh_quiet(&coll->ctx);
    for (int i = 0; i < coll->n_local && !rc; i++)
        if (coll->local[i] != team->my_pe)
            rc = wsh_signal_send(&coll->ctx, &signal, coll->local[i]);
    return rc;
}

static int push(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    int rc = 0;

    if (share->rep != team->my_pe)
        return wsh_share_take(team, share, share->rep);
    if (!wsh_coll_is_host(team, share->to))
        return push_device(team, share);
    for (int i = 0; i < coll->n_local && !rc; i++)
        if (coll->local[i] != team->my_pe)
            rc = wsh_share_send(team, share, share->from, coll->local[i]);
    return rc;
}

/* The flag alone; then every reader's word. */
static int offer(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    const struct wsh_signal signal = wsh_coll_word(coll, wsh_coll_slot_at(coll, share->slot), share->slot);
    struct wsh_hear readers = {.team = team,
                               .members = coll->local,
                               .n = coll->n_local,
                               .off = coll->pad.ack,
                               .stride = sizeof(uint64_t),
                               .want = share->slot};
    int rc = 0;

    for (int i = 0; i < coll->n_local && !rc; i++)
        if (coll->local[i] != team->my_pe)
            rc = wsh_signal_send(&coll->ctx, &signal, coll->local[i]);
    return rc ? rc : wsh_hear_all(&readers, share->routine);
}

static int pull(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    const struct wsh_signal done =
        wsh_coll_word(coll, coll->pad.ack + (size_t)team->my_pe * sizeof(uint64_t), share->slot);
    int rc;

    if (share->rep == team->my_pe)
        return offer(team, share);
    rc = wsh_hear_one(team, share->rep, wsh_coll_slot_at(coll, share->slot), share->slot, share->routine);
    if (rc)
        return rc;
    memcpy(share->to, wsh_coll_map(team, share->from, share->len, share->rep), share->len);
    return wsh_signal_send(&coll->ctx, &done, share->rep);
}

int wsh_share(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;

    if (coll->n_local == 1)
        return 0;
    if (fits_slot(team, share))
        return share->rep == team->my_pe ? show(team, share) : look(team, share);
    if (wsh_choice_find(WSH_COLL_BROADCAST, coll->layout, coll->n_local, share->len) == WSH_ALGO_PULL &&
        wsh_coll_can_pull(team, share->to, share->from, share->len))
        return pull(team, share);
    return push(team, share);
}
