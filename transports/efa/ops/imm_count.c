/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts counter writes at both ends. */
#include "transports/efa/ops/imm_count.h"

#include "base/invariant.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/errors.h"

#include <errno.h>
#include <stdlib.h>

#define LAZY_ROW \
    ((uint32_t)1 << 30) /* lazy messages of a flow in a row: their numbers are compared modulo 2^32 */

/*
 * Behind more data an answer costs nothing, and TCP paced by the rate at which its peer answers (BBR) is slower without
 * it: a broadcast of 1 MiB took 1.17 times as long.
 */
#define LAZY_DATA ((size_t)512 << 10)

bool wsh_efa_imm_count_fits(const struct wsh_efa_set *set, int pe, uint32_t counter)
{
    return set->imm && set->peers[pe].link.imms_max && counter < WSH_SRD_IMM_COUNTERS;
}

/*
 * Targets keep acknowledgements back until half of the credits are used up, so that an operation that needs more than
 * the other half might wait for ever.
 */
bool wsh_efa_imm_count_takes(const struct wsh_efa_set *set, int pe, uint32_t counter, uint32_t pieces)
{
    const struct wsh_efa_peer *peer = &set->peers[pe];

    if (!wsh_efa_imm_count_fits(set, pe, counter))
        return false;
    return pieces == 1 || (!peer->imm_count.in_pieces && counter < WSH_SRD_IMM_PIECE_COUNTERS &&
                           pieces <= WSH_SRD_IMM_PIECES && pieces <= (peer->link.imms_max + 1) / 2);
}

/* What is sent to the flow only on request. */
static void list_late(struct wsh_efa_flow *flow)
{
    if (flow->late)
        return;
    flow->late = true;
    flow->next_late = flow->ctx->late;
    flow->ctx->late = flow;
}

void wsh_efa_imm_count_started(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    flow->counter_writes = set->peers[flow->pe].link.counter_writes;
    list_late(flow);
    if (flow->uncounted)
        return;
    __atomic_store_n(&flow->uncounted, true, __ATOMIC_RELAXED);
    wsh_efa_count_add(&flow->ctx->n_uncounted);
}

/*
 * The target acknowledges half of a flow's window, lazy or not; flows with less under way must leave some credits:
 * those of collectives half of them, since other contexts send to the same peer.
 */
bool wsh_efa_lazy_fits(const struct wsh_efa_set *set, const struct wsh_efa_flow *flow, size_t data,
                       bool counts)
{
    uint32_t most = set->peers[flow->pe].link.msgs_max;

    if ((!counts && !flow->ctx->base.lazy) || flow->srd.sent - flow->prompt_end >= LAZY_ROW ||
        data > LAZY_DATA)
        return false;
    return flow->srd.sent - flow->srd.acked >= (flow->srd.window + 1) / 2 ||
           set->peers[flow->pe].imm_count.lazy < (counts ? most - most / 8 - 1 : most / 2);
}

void wsh_efa_lazy_sent(struct wsh_efa_set *set, struct wsh_efa_flow *flow, bool lazy)
{
    if (!lazy) {
        flow->prompt_end = flow->srd.sent + 1;
        return;
    }
    flow->lazy_end = flow->srd.sent + 1;
    set->peers[flow->pe].imm_count.lazy++;
    wsh_efa_count_add(&flow->ctx->n_lazy);
    list_late(flow);
}

void wsh_efa_lazy_applied(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    WSH_INVARIANT(set->peers[flow->pe].imm_count.lazy);
    set->peers[flow->pe].imm_count.lazy--;
    wsh_efa_count_sub(&flow->ctx->n_lazy);
}

/* Relaxed: who waits calls it again. The NIC alone tells when the source of a write may be reused. */
void wsh_efa_ctx_await(struct wsh_tctx *tctx, bool unread)
{
    struct wsh_efa_ctx *ctx = (struct wsh_efa_ctx *)tctx;

    if (unread || (!wsh_efa_count_read(&ctx->n_lazy) && !wsh_efa_count_read(&ctx->n_uncounted)))
        return;
    __atomic_store_n(&ctx->awaited, true, __ATOMIC_RELAXED);
    __atomic_store_n(&ctx->set->imm_counts.awaited, true, __ATOMIC_RELAXED);
}

uint32_t wsh_efa_ctx_uncounted(const struct wsh_efa_ctx *ctx, const struct wsh_efa_flow *flow)
{
    return flow ? __atomic_load_n(&flow->uncounted, __ATOMIC_ACQUIRE) : wsh_efa_count_read(&ctx->n_uncounted);
}

static void ack_later(struct wsh_efa_set *set, struct wsh_efa_imm_count *count)
{
    set->imm_counts.n_acks += !count->ack_due;
    count->ack_due = true;
}

/*
 * What the peer requested is here, or it may soon lack credits: it has what both of us can take, which is less than
 * set->limits.imms where it has more endpoint sets.
 */
static bool is_due(const struct wsh_efa_peer *peer)
{
    const struct wsh_efa_imm_count *count = &peer->imm_count;
    uint32_t unacked = count->counted - count->acked;

    return unacked && ((count->has_wanted && !wsh_srd_before(count->counted, count->wanted)) ||
                       unacked >= (peer->link.imms_max + 1) / 2);
}

static struct wsh_efa_imm_part *part_find(const struct wsh_efa_imm_count *count,
                                          const struct wsh_srd_imm *imm)
{
    for (uint32_t i = 0; i < count->n_parts; i++)
        if (count->part[i].counter == imm->counter && count->part[i].generation == imm->generation &&
            count->part[i].pieces == imm->pieces)
            return &count->part[i];
    return NULL;
}

/* The first piece: each put of which some are missing holds a credit of the peer. */
static int part_add(struct wsh_efa_peer *peer, const struct wsh_srd_imm *imm)
{
    struct wsh_efa_imm_count *count = &peer->imm_count;
    uint16_t room = count->n_parts < count->room ? count->room : (uint16_t)(2 * count->room + 2);
    struct wsh_efa_imm_part *part = count->part;

    if (count->n_parts >= peer->link.imms_max)
        return -EPROTO;
    if (room > count->room && !(part = realloc(part, room * sizeof *part)))
        return -ENOMEM;
    count->part = part;
    count->room = room;
    part[count->n_parts++] = (struct wsh_efa_imm_part){imm->counter, imm->generation, imm->pieces, 1};
    return 0;
}

/* 1: a put is whole by it; 0: pieces are missing; or an error. */
static int makes_whole(struct wsh_efa_peer *peer, const struct wsh_srd_imm *imm)
{
    struct wsh_efa_imm_count *count = &peer->imm_count;
    struct wsh_efa_imm_part *part;

    if (imm->pieces == 1)
        return 1;
    part = part_find(count, imm);
    if (!part)
        return part_add(peer, imm);
    if (++part->here < part->pieces)
        return 0;
    *part = count->part[--count->n_parts];
    return 1;
}

int wsh_efa_imm_count_add(struct wsh_efa_set *set, const struct wsh_srd_imm *imm)
{
    int pe = (int)imm->pe, rc = makes_whole(&set->peers[pe], imm);
    struct wsh_efa_imm_count *count = &set->peers[pe].imm_count;

    if (rc < 0)
        return rc;
    wsh_order_returns(); /* what the NICs have written comes before the count */
    rc = rc ? set->imm_counts.count(set->core, imm->counter, imm->generation, 1) : 0;
    if (rc)
        return wsh_efa_set_fail(
            set, rc,
            "PE %d has put with counter %u, which is not in use here, or not any more; destroy "
            "counters only when nothing puts with them",
            pe, imm->counter);
    count->counted++;
    if (is_due(&set->peers[pe]))
        ack_later(set, count);
    return 0;
}

void wsh_efa_imm_count_requested(struct wsh_efa_set *set, int pe, uint32_t wanted)
{
    struct wsh_efa_imm_count *count = &set->peers[pe].imm_count;

    if (!count->has_wanted || wsh_srd_before(count->wanted, wanted)) /* an earlier request may come later */
        count->wanted = wanted;
    count->has_wanted = wsh_srd_before(count->acked, count->wanted);
    if (is_due(&set->peers[pe]))
        ack_later(set, count);
}

static void settle_ctx(struct wsh_efa_ctx *ctx, int pe, uint32_t counted)
{
    struct wsh_efa_flow *flow = ctx->flow[pe];

    if (!flow || !flow->uncounted || wsh_srd_before(counted, flow->counter_writes))
        return;
    __atomic_store_n(&flow->uncounted, false, __ATOMIC_RELEASE);
    wsh_efa_count_sub(&ctx->n_uncounted);
}

int wsh_efa_imm_count_acked(struct wsh_efa_set *set, int pe, uint32_t counted)
{
    int rc = wsh_srd_link_counted(&set->peers[pe].link, counted);

    if (rc <= 0)
        return rc;
    set->peers[pe].acks++;
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        settle_ctx(set->ctxs[i], pe, counted);
    return 0;
}
