/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport that the library's core sees: shared memory to PEs of the host, the ordering engine to others. */
#include "sim/sim.h"

#include "base/atomic.h"
#include "transports/efa/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in transports/efa: most bytes of a message, in jobs of up to so many PEs and beyond; and of a piece of a put. */
#define MSG_MAX 8928
#define MSG_MAX_MANY 640
#define MANY 64
#define PART_MAX ((size_t)1 << 30)

static size_t msg_max(void)
{
    return sim.n_pes > MANY ? MSG_MAX_MANY : MSG_MAX;
}

static struct sim_ctx *ctx_of(struct wsh_tctx *tctx)
{
    return (struct sim_ctx *)tctx;
}

static char *address_of(const struct wsh_rmem *rmem, size_t off)
{
    return (char *)(uintptr_t)rmem->base + off;
}

static bool is_local(const struct wsh_rmem *rmem)
{
    return sim_same_host(&sim.pe[rmem->pe], sim.running);
}

static uint64_t amo_apply(char *word, const struct wsh_amo *amo)
{
    return wsh_amo_apply(word, amo->op, amo->width, amo->operand, amo->compare);
}

/* A word of a PE of the host that changes when the store is seen there. */
struct store {
    struct sim_pe *pe;
    char *word;
    struct wsh_amo amo;
};

static void store_later(struct sim_pe *pe, char *word, const struct wsh_amo *amo, double ns)
{
    struct store *store = malloc(sizeof *store);

    if (!store)
        abort();
    *store = (struct store){pe, word, *amo};
    sim_events_add(sim.now + sim.debt + (sim_time)(ns * 1000), SIM_STORE, store);
}

static void store_word(const struct wsh_rmem *rmem, char *word, const struct wsh_amo *amo)
{
    store_later(&sim.pe[rmem->pe], word, amo, sim.set.shared);
}

void sim_count_later(struct sim_pe *pe, char *word, double ns)
{
    const struct wsh_amo one = {WSH_AMO_ADD, 8, 1, 0};

    if (ns > 0) {
        store_later(pe, word, &one, ns);
        return;
    }
    amo_apply(word, &one);
    sim_wake(pe, 0);
}

void sim_store_event(const struct sim_event *event)
{
    struct store *store = event->what;

    amo_apply(store->word, &store->amo);
    sim_wake(store->pe, 0);
    free(store);
}

static void local_spend(size_t len)
{
    sim.counts.locals++;
    sim.debt += (sim_time)(sim.set.store * 1000) + sim_copy_cost(len);
}

/* The data are written at once; whoever reads them has seen a flag first, which is not. */
static int local_put(const struct wsh_rmem *rmem, size_t off, const void *src, size_t len)
{
    local_spend(len);
    memmove(address_of(rmem, off), src, len);
    sim_settle();
    return 0;
}

static struct sim_op *op_for(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                             size_t len, bool copied)
{
    struct sim_op *op = sim_op_new(ctx_of(tctx), rmem, copied ? len : 0);

    op->there = address_of(rmem, off);
    op->len = len;
    op->here = copied ? op->copy : (char *)src;
    if (copied && len)
        memcpy(op->copy, src, len);
    return op;
}

static void set_part(struct sim_op *op, size_t part)
{
    op->part = part;
    op->srd.segments = (uint32_t)((op->len + op->part - 1) / op->part);
}

/* In pieces for all NICs of the PE, where it has several. */
static void op_cut(struct sim_op *op)
{
    struct wsh_efa_choice choice = {.n = (uint32_t)sim_nics_of(&sim.host[op->source->host])};

    set_part(op, choice.n > 1 ? wsh_efa_choice_part(&choice, op->len, PART_MAX) : op->len);
}

/*
 * A counted put, as transports/efa does: where NICs would have nothing to do a piece for each, one put to a peer at a
 * time, and no more than half of its credits.
 */
static void counted_cut(struct sim_op *op)
{
    struct wsh_efa_choice *choice = &op->source->choice;
    struct sim_link *link = sim_link_of(op->source, op->target);
    uint32_t n = wsh_efa_choice_pieces(choice, choice->n, op->target->number, op->len);

    if (link->in_pieces || n > (link->srd.imms_max + 1) / 2 || sim.set.nic_counts)
        n = 1;
    set_part(op, wsh_efa_choice_piece(op->len, n, PART_MAX));
    op->in_pieces = op->srd.segments > 1;
}

static int ended(int rc)
{
    sim_settle();
    return rc;
}

static int net_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                   size_t len, struct wsh_done *done)
{
    struct sim_ctx *ctx = ctx_of(tctx);
    bool small = len + sizeof(struct wsh_efa_put_msg) <= msg_max();
    struct sim_op *op = op_for(tctx, rmem, off, src, len, small);

    op_cut(op);
    if (op->srd.segments == 1 && wsh_srd_put_fast(&ctx->srd, &op->out->srd)) {
        if (done && !small) {
            op->done = done;
            done->left++;
        }
        sim_post_fast(op);
        return 0;
    }
    op->srd.kind = (uint8_t)wsh_srd_put_kind(&ctx->srd, &op->out->srd, small);
    if (op->srd.kind == WSH_SRD_MSG)
        op->srd.segments = 0;
    op->srd.counted = wsh_srd_wants_counts(&op->out->srd);
    return sim_submit(ctx, op, small ? NULL : done);
}

static int tp_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
                  struct wsh_done *done)
{
    if (!len)
        return 0;
    if (is_local(rmem))
        return local_put(rmem, off, src, len);
    return ended(net_put(tctx, rmem, off, src, len, done));
}

static int net_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                   struct wsh_done *done)
{
    struct sim_op *op = op_for(tctx, rmem, off, dst, len, false);

    op_cut(op);
    op->srd.kind = WSH_SRD_GET;
    op->srd.unordered = !done;
    return sim_submit(ctx_of(tctx), op, done);
}

static int tp_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                  struct wsh_done *done)
{
    if (!len)
        return 0;
    if (!is_local(rmem))
        return ended(net_get(tctx, rmem, off, dst, len, done));
    local_spend(len);
    memmove(dst, address_of(rmem, off), len);
    return ended(0);
}

static int local_amo(const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo, void *result)
{
    local_spend(0);
    if (result) {
        uint64_t old = amo_apply(address_of(rmem, off), amo);

        memcpy(result, &old, amo->width);
        sim_wake(&sim.pe[rmem->pe], (sim_time)(sim.set.shared * 1000));
    } else {
        store_word(rmem, address_of(rmem, off), amo);
    }
    return ended(0);
}

static int tp_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                  void *result, struct wsh_done *done)
{
    struct sim_op *op;

    if (is_local(rmem))
        return local_amo(rmem, off, amo, result);
    op = op_for(tctx, rmem, 0, NULL, 0, false);
    op->srd.kind = result ? WSH_SRD_FETCH : WSH_SRD_MSG;
    op->word = address_of(rmem, off);
    op->amo = *amo;
    op->result = result;
    return ended(sim_submit(ctx_of(tctx), op, result ? done : NULL));
}

static int counted_start(struct sim_ctx *ctx, struct sim_op *op)
{
    if (op->srd.segments == 1 && wsh_srd_counter_fast(&ctx->srd, &op->out->srd)) {
        sim_post_fast(op);
        return 0;
    }
    op->srd.kind = WSH_SRD_PUT;
    op->srd.by_counter = true;
    return sim_submit(ctx, op, NULL);
}

static int net_put_tallied(struct sim_ctx *ctx, struct sim_op *op)
{
    struct sim_link *link = sim_link_of(op->source, op->target);
    int target = op->target->number, rc;
    size_t len = op->len;
    bool was = link->in_pieces;

    op->counts = true;
    counted_cut(op);
    link->in_pieces |= op->in_pieces;
    rc = counted_start(ctx, op);
    if (rc)
        link->in_pieces = was;
    else
        wsh_efa_choice_note(&ctx->pe->choice, target, len);
    return rc;
}

static int net_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                          size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    bool small = len + sizeof(struct wsh_efa_signal_msg) <= msg_max();
    struct sim_op *op = op_for(tctx, rmem, off, src, len, small);

    op->word = address_of(sig->rmem, sig->off);
    op->amo = (struct wsh_amo){sig->op, 8, sig->value, 0};
    if (sig->counter && len)
        return net_put_tallied(ctx_of(tctx), op);
    op->srd.kind = WSH_SRD_MSG;
    op->srd.segments = 0;
    if (!small) {
        op->srd.kind = WSH_SRD_SIGNAL;
        op_cut(op);
    }
    return sim_submit(ctx_of(tctx), op, small ? NULL : done);
}

static int tp_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                         size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    const struct wsh_amo amo = {sig->op, 8, sig->value, 0};

    if (!is_local(rmem))
        return ended(net_put_signal(tctx, rmem, off, src, len, sig, done));
    local_spend(len);
    if (len)
        memmove(address_of(rmem, off), src, len);
    store_word(sig->rmem, address_of(sig->rmem, sig->off), &amo);
    return ended(0);
}

static int tp_fence(struct wsh_tctx *tctx)
{
    wsh_srd_fence(&ctx_of(tctx)->srd);
    return 0;
}

static size_t tp_pending(struct wsh_tctx *tctx, int pe)
{
    struct sim_ctx *ctx = ctx_of(tctx);

    if (pe < 0)
        return wsh_srd_ctx_pending(&ctx->srd);
    return wsh_srd_flow_pending(&sim_out_of(ctx, &sim.pe[pe])->srd);
}

static void tp_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    snprintf(text, size, "%u parts of operations", wsh_srd_ctx_pending(&ctx_of(tctx)->srd));
}

/* What the library calls once a run is set up; nothing else may be. */
const struct wsh_tp_ops sim_tp_ops = {
    .name = "simulated",
    .put = tp_put,
    .get = tp_get,
    .amo = tp_amo,
    .put_signal = tp_put_signal,
    .fence = tp_fence,
    .pending = tp_pending,
    .describe = tp_describe,
};
