/* SPDX-License-Identifier: BSD-3-Clause */
/* Three algorithms inside a memory domain: through a slot, by puts of the sender, or read by all at the same time. */
#include "runtime/coll/memory/share.h"

#include "base/invariant.h"
#include "base/atomic.h"
#include "runtime/coll/choose/dispatch.h"
#include "runtime/coll/memory/flags.h"
#include "runtime/op/order.h"
#include "runtime/op/rma.h"

#include <string.h>

/*
 * Takes the next slot. A slot is reused only when all members are done with it; collectives that need something of
 * every member prove that. If there was none for long, a sync is inserted.
 */
static int slot_begin(struct wsh_team *team, struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    int rc = 0;

    if (coll->slots + 1 > coll->safe + WSH_SLOT_COUNT)
        rc = wsh_sync(team, share->routine);
    share->slot = ++coll->slots;
    WSH_INVARIANT(rc || coll->slots - coll->safe <= WSH_SLOT_COUNT);
    return rc;
}

/* Device memory is written directly: through the slot the GPU would have to copy twice, one after the other. */
int wsh_share_begin(struct wsh_team *team, struct wsh_share *share)
{
    const struct wsh_coll_request request = {WSH_COLL_BROADCAST, team->coll->n_local, share->len,
                                             share->to,          share->from,         share->len};

    share->algo = wsh_coll_choose(team, &request);
    return slot_begin(team, share);
}

int wsh_share_send(struct wsh_team *team, const struct wsh_share *share, const void *data, int member)
{
    struct wsh_coll *coll = team->coll;
    size_t slot = wsh_coll_slot_at(coll, share->slot);
    const struct wsh_signal signal = wsh_coll_word(coll, slot, share->slot);
    void *to = share->algo == WSH_ALGO_LL ? ((struct wsh_ll_line *)(coll->base + slot))->data : share->to;

    return wsh_coll_send(coll, to, data, share->len, &signal, member);
}

/* Both are host memory: of a call by LL lines. */
static void slot_copy(const struct wsh_share *share, const char *area, size_t slot)
{
    if (share->len)
        memcpy(share->to, ((const struct wsh_ll_line *)(area + slot))->data, share->len);
}

int wsh_share_take(struct wsh_team *team, const struct wsh_share *share, int sender)
{
    size_t slot = wsh_coll_slot_at(team->coll, share->slot);
    int rc = wsh_flag_await(team, sender, slot, share->slot, share->routine);

    if (!rc && share->algo == WSH_ALGO_LL)
        slot_copy(share, team->coll->base, slot);
    return rc;
}

/* A word of my own sync area, for all readers. */
static void word_show(struct wsh_coll *coll, size_t off, uint64_t value)
{
    wsh_order_leaves();
    /* Release: the data before the flag. Partner: the acquire in flags.c. */
    __atomic_store_n((uint64_t *)(coll->base + off), value, __ATOMIC_RELEASE);
}

/* One store for all readers: into the slot of rep, which already has what came down the tree. */
static int slot_show(struct wsh_team *team, const struct wsh_share *share)
{
    size_t at = wsh_coll_slot_at(team->coll, share->slot);
    struct wsh_ll_line *slot = (struct wsh_ll_line *)(team->coll->base + at);

    if (slot->flag == share->slot)
        return 0;
    if (!wsh_coll_is_host(team, share->from))
        return wsh_share_send(team, share, share->from, team->my_pe);
    if (share->len)
        memcpy(slot->data, share->from, share->len);
    word_show(team->coll, at, share->slot);
    return 0;
}

static int slot_await(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_flags flags = {.team = team,
                              .members = &share->rep,
                              .n = 1,
                              .off = wsh_coll_slot_at(team->coll, share->slot),
                              .mapped = true,
                              .want = share->slot};

    return wsh_flags_await(&flags, share->routine);
}

static int slot_read(struct wsh_team *team, const struct wsh_share *share)
{
    const struct wsh_coll *coll = team->coll;
    int rc = slot_await(team, share);

    if (!rc)
        slot_copy(share, coll->peer[share->rep], wsh_coll_slot_at(coll, share->slot));
    return rc;
}

/* The GPU is waited for once, not for each member. */
static int device_push(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    const struct wsh_signal signal = wsh_coll_word(coll, wsh_coll_slot_at(coll, share->slot), share->slot);
    int rc = 0;

    for (int i = 0; i < coll->n_local && !rc; i++)
        if (coll->local[i] != team->my_pe)
            rc = wsh_put_nbi(&coll->ctx, share->to, share->from, share->len, coll->local[i]);
    if (!rc)
        rc = wsh_pe_quiet(&coll->ctx, coll->local, (size_t)coll->n_local);
    for (int i = 0; i < coll->n_local && !rc; i++)
        if (coll->local[i] != team->my_pe)
            rc = wsh_signal_send(&coll->ctx, &signal, coll->local[i]);
    return rc;
}

static int share_push(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    int rc = 0;

    if (share->rep != team->my_pe)
        return wsh_share_take(team, share, share->rep);
    if (!wsh_coll_is_host(team, share->to))
        return device_push(team, share);
    for (int i = 0; i < coll->n_local && !rc; i++)
        if (coll->local[i] != team->my_pe)
            rc = wsh_share_send(team, share, share->from, coll->local[i]);
    return rc;
}

/* Sets the flag, then waits for the word of every reader; a reader may already be in a later call. */
static int share_offer(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_flags readers = {.team = team,
                                .members = coll->local,
                                .n = coll->n_local,
                                .off = coll->area.ack,
                                .mapped = true,
                                .want = share->slot,
                                .span = ~share->slot}; /* later ones too */

    word_show(coll, wsh_coll_slot_at(coll, share->slot), share->slot);
    return wsh_flags_await(&readers, share->routine);
}

static int share_pull(struct wsh_team *team, const struct wsh_share *share)
{
    struct wsh_coll *coll = team->coll;
    int rc;

    if (share->rep == team->my_pe)
        return share_offer(team, share);
    rc = slot_await(team, share);
    if (rc)
        return rc;
    memcpy(share->to, wsh_coll_map(team, share->from, share->len, share->rep), share->len);
    word_show(coll, coll->area.ack, share->slot);
    return 0;
}

static int share_by_slot(struct wsh_team *team, const struct wsh_share *share)
{
    return share->rep == team->my_pe ? slot_show(team, share) : slot_read(team, share);
}

wsh_share_fn *const wsh_share_by[WSH_ALGOS] = {
    [WSH_ALGO_LL] = share_by_slot,
    [WSH_ALGO_PUSH] = share_push,
    [WSH_ALGO_PULL] = share_pull,
};

int wsh_share(struct wsh_team *team, const struct wsh_share *share)
{
    return team->coll->n_local == 1 ? 0 : wsh_share_by[share->algo](team, share);
}
