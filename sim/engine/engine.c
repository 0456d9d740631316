/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ends of the ordering engine at every PE: what it gives to the network, and what arrives. */
#include "sim/mirror.h"

#include "base/atomic.h"
#include "transports/efa/wire/wire.h"

#include <stdlib.h>
#include <string.h>

struct sim_op *sim_op_new(struct sim_ctx *ctx, const struct wsh_rmem *rmem, size_t copied)
{
    struct sim_op *op = calloc(1, sizeof *op + copied);

    if (!op)
        abort();
    op->source = ctx->pe;
    op->target = &sim.pe[rmem->pe];
    op->out = sim_out_of(ctx, op->target);
    op->source->n_ops++;
    return op;
}

static void op_free(struct sim_op *op)
{
    op->source->n_ops--;
    free(op);
}

/* A packet of it is over. */
static void op_drop(struct sim_op *op)
{
    if (!--op->left && (op->fast || wsh_srd_op_over(&op->srd)))
        op_free(op);
}

static void segment_post(struct sim_op *op, enum sim_kind kind)
{
    size_t at = op->srd.started * op->part, len = op->len - at < op->part ? op->len - at : op->part;
    struct sim_packet *packet = sim_packet_new(kind, op->source, op->target, kind == SIM_READ ? 0 : len);

    packet->op = op;
    packet->segment = op->srd.started;
    packet->grouped = op->srd.grouped;
    packet->group = op->srd.group;
    packet->tallied = op->counts;
    packet->word = op->counts ? op->word : NULL;
    op->left++;
    sim.debt += (sim_time)(sim.set.send * 1000);
    sim.counts.writes += kind == SIM_WRITE;
    sim.counts.reads += kind == SIM_READ;
    sim_net_send(packet);
}

void sim_post_fast(struct sim_op *op)
{
    op->fast = true;
    segment_post(op, SIM_WRITE);
}

static int io_write(void *arg, struct wsh_srd_op *srd)
{
    (void)arg;
    segment_post((struct sim_op *)srd, SIM_WRITE);
    return 0;
}

static int io_read(void *arg, struct wsh_srd_op *srd)
{
    (void)arg;
    segment_post((struct sim_op *)srd, SIM_READ);
    return 0;
}

static void ack_fill(struct sim_in *in, uint32_t *applied, uint32_t *counted)
{
    *applied = in ? in->srd.applied : 0;
    *counted = in ? in->srd.counted : 0;
    if (in)
        wsh_srd_rx_flow_acked(&in->srd);
}

/* The mutant lets the signal of a long put go before its data. */
static int io_send(void *arg, struct wsh_srd_op *srd, struct wsh_srd_stamp *stamp)
{
    struct sim_op *op = (struct sim_op *)srd;
    size_t data = op->srd.segments ? 0 : op->len;
    struct sim_packet *packet =
        sim_packet_new(SIM_MESSAGE, op->source, op->target, sizeof(struct wsh_efa_signal_msg) + data);

    (void)arg;
    op->stamp = *stamp;
    if (sim.set.mutant == SIM_EARLY)
        op->stamp.own_count = 0;
    ack_fill(sim_state_find(op->source, op->target->number, SIM_KEY_IN + op->out->ctx->number),
             &op->stamp.applied, &op->stamp.counted);
    packet->op = op;
    op->left++;
    sim.debt += (sim_time)(sim.set.send * 1000);
    sim.counts.messages++;
    sim_net_send(packet);
    return 0;
}

static const struct wsh_srd_io io = {io_write, io_read, io_send, NULL};

static void out_wait(struct sim_out *out)
{
    struct sim_pe *pe = out->ctx->pe;

    if (out->waiting || !wsh_srd_flow_deferred(&out->srd))
        return;
    out->waiting = true;
    out->next = pe->deferred;
    pe->deferred = out;
}

int sim_submit(struct sim_ctx *ctx, struct sim_op *op, struct wsh_done *done)
{
    int rc;

    op->srd.keep = ctx->pe->n_ops <= sim.set.ops - sim.set.ops / 4;
    rc = wsh_srd_submit(&ctx->srd, &op->out->srd, &op->srd, &io);
    if (rc) {
        sim.counts.refused++;
        op_free(op);
        return rc;
    }
    if (done && (op->srd.segments || op->srd.kind == WSH_SRD_FETCH)) {
        op->done = done;
        done->left++;
    }
    out_wait(op->out);
    return 0;
}

static void ack_later(struct sim_pe *pe, struct sim_in *in)
{
    if (in->ack_due || !wsh_srd_rx_flow_has_ack(&in->srd))
        return;
    if (sim.set.mutant == SIM_WINDOW && !wsh_srd_rx_flow_urgent(&in->srd))
        return;
    in->ack_due = true;
    in->next = pe->acks;
    pe->acks = in;
}

static struct sim_packet *answer_new(enum sim_kind kind, struct sim_pe *pe, struct sim_in *in, size_t len)
{
    struct sim_packet *packet = sim_packet_new(kind, pe, in->source, sizeof(struct wsh_efa_head) + len);

    ack_fill(in, &packet->applied, &packet->counted);
    packet->segment = in->ctx;
    sim.debt += (sim_time)(sim.set.send * 1000);
    return packet;
}

static void acks_send(struct sim_pe *pe)
{
    while (pe->acks) {
        struct sim_in *in = pe->acks;

        pe->acks = in->next;
        in->ack_due = false;
        if (!wsh_srd_rx_flow_has_ack(&in->srd))
            continue;
        sim.counts.acks++;
        sim_net_send(answer_new(SIM_ACK, pe, in, 0));
    }
}

/* The last of it here; what came back is no operation of its source. */
static void message_over(struct sim_op *op)
{
    struct sim_op *of = op->of;

    op_drop(of ? of : op);
    if (of)
        free(op);
}

static void message_store(const struct sim_op *op)
{
    if (op->of)
        sim_mirror_land(op->of, 0, op->len);
    else
        memcpy(op->there, op->here, op->len);
    sim.debt += sim_copy_cost(op->len);
}

static int apply(void *arg, void *msg)
{
    struct sim_in *in = arg;
    struct sim_op *op = msg;
    struct sim_packet *reply;

    op->target->n_receives--;
    if (!op->srd.segments && op->len)
        message_store(op);
    if (op->word)
        op->old = wsh_amo_apply(op->word, op->amo.op, op->amo.width, op->amo.operand, op->amo.compare);
    if (op->srd.kind != WSH_SRD_FETCH) {
        message_over(op);
        return 0;
    }
    reply = answer_new(SIM_REPLY, op->target, in, 8);
    reply->op = op;
    sim_net_send(reply);
    return 0;
}

static int flow_ack(struct sim_pe *pe, int peer, uint16_t ctx, uint32_t applied, uint32_t counted)
{
    struct sim_out *out = sim_state_find(pe, peer, SIM_KEY_OUT + ctx);

    if (!out)
        return applied || counted ? -EPROTO : 0;
    return wsh_srd_flow_acked(&out->ctx->srd, &out->srd, applied, counted);
}

static int message_take(struct sim_pe *pe, struct sim_packet *packet)
{
    struct sim_op *op = packet->op;
    uint16_t ctx = op->out->ctx->number;
    struct sim_in *in = sim_in_of(pe, op->source, ctx);
    const struct wsh_srd_sink sink = {apply, in};
    int rc = flow_ack(pe, op->source->number, ctx, op->stamp.applied, op->stamp.counted);

    if (rc >= 0)
        rc = wsh_srd_rx_flow_message(&in->srd, &op->stamp, op, &sink);
    ack_later(pe, in);
    return rc;
}

/* Credits go back when half of them are used up. */
static void counts_take(struct sim_pe *pe, const struct sim_packet *packet)
{
    struct sim_link *link = sim_link_of(pe, packet->from);
    struct sim_packet *ack;

    if (packet->word)
        sim_count_later(pe, packet->word, sim.set.show);
    if (++link->counted - link->acked < (sim.window + 1) / 2)
        return;
    link->acked = link->counted;
    ack = sim_packet_new(SIM_TALLIED, pe, packet->from, sizeof(struct wsh_efa_count_msg));
    ack->applied = link->counted;
    sim.debt += (sim_time)(sim.set.send * 1000);
    sim.counts.acks++;
    sim_net_send(ack);
}

static int count_take(struct sim_pe *pe, const struct sim_packet *packet)
{
    struct sim_in *in = sim_in_of(pe, packet->from, (uint16_t)packet->segment);
    const struct wsh_srd_sink sink = {apply, in};
    int rc = wsh_srd_rx_flow_write(&in->srd, packet->group, &sink);

    ack_later(pe, in);
    return rc;
}

static void done_sub(struct sim_op *op)
{
    if (op->done)
        __atomic_fetch_sub(&op->done->left, 1, __ATOMIC_RELEASE);
}

/* Of a put that the NIC has counted: nothing comes back for it. */
static void count_over(const struct sim_op *op)
{
    struct sim_link *link = sim_link_of(op->source, op->target);

    if (wsh_srd_link_counted(&link->srd, ++link->over) < 0)
        sim_violation("PE %d: more counted puts have ended than begun", op->source->number);
}

/* All segments have ended: the source may be reused, or the data of a read is here. */
static void segment_end(struct sim_op *op)
{
    struct sim_out *out = op->out;

    if (op->counts && sim.set.nic_counts)
        count_over(op);
    if (op->fast) {
        wsh_srd_put_ended(&out->ctx->srd, &out->srd, 1);
        done_sub(op);
    } else {
        wsh_srd_op_ended(&out->ctx->srd, &out->srd, &op->srd);
        if (op->srd.ended == op->srd.segments) {
            done_sub(op);
            if (op->in_pieces)
                sim_link_of(op->source, op->target)->in_pieces = false;
        }
        out_wait(out);
    }
    op_drop(op);
}

static int reply_take(struct sim_pe *pe, struct sim_packet *packet)
{
    struct sim_op *op = packet->op;
    struct sim_out *out = op->out;
    int rc = wsh_srd_flow_replied(&out->ctx->srd, &out->srd);

    memcpy(op->result, &op->old, op->amo.width);
    done_sub(op);
    if (!rc)
        rc = flow_ack(pe, packet->from->number, (uint16_t)packet->segment, packet->applied, packet->counted);
    op_drop(op);
    return rc;
}

static int packet_take(struct sim_pe *pe, struct sim_packet *packet)
{
    switch (packet->kind) {
    case SIM_MESSAGE: return message_take(pe, packet);
    case SIM_ACK:
        return flow_ack(pe, packet->from->number, (uint16_t)packet->segment, packet->applied,
                        packet->counted);
    case SIM_REPLY: return reply_take(pe, packet);
    case SIM_TALLIED: return wsh_srd_link_counted(&sim_link_of(pe, packet->from)->srd, packet->applied);
    default: break;
    }
    if (packet->kind == SIM_WRITE && !packet->back && packet->tallied) {
        counts_take(pe, packet);
        return 0;
    }
    if (packet->kind == SIM_WRITE && !packet->back)
        return count_take(pe, packet);
    segment_end(packet->op);
    return 0;
}

static struct sim_packet *cq_pop(struct sim_pe *pe)
{
    struct sim_packet *packet = pe->cq;

    if (!packet)
        return NULL;
    pe->cq = packet->next;
    if (!pe->cq)
        pe->cq_end = &pe->cq;
    pe->n_cq--;
    return packet;
}

static int deferred_pump(struct sim_pe *pe)
{
    struct sim_out *out = pe->deferred;
    uint32_t n = 0;
    int rc = 0;

    pe->deferred = NULL;
    while (out) {
        struct sim_out *next = out->next;

        out->waiting = false;
        if (!rc)
            rc = wsh_srd_pump(&out->srd, &io);
        out_wait(out);
        out = next;
        n++;
    }
    if (n > sim.counts.deferred)
        sim.counts.deferred = n;
    return rc;
}

int sim_progress(struct sim_pe *pe)
{
    struct sim_packet *packet;
    int moved = 0, rc = 0;

    while ((packet = cq_pop(pe)) && rc >= 0) {
        bool heavy = packet->kind == SIM_MESSAGE || packet->kind == SIM_REPLY;

        sim_spend((sim_time)((heavy ? sim.set.receive : sim.set.complete) * 1000));
        rc = packet_take(pe, packet);
        sim_packet_free(packet);
        moved = 1;
    }
    if (rc < 0)
        sim_violation("PE %d: the protocol of the ordering engine is broken: %d", pe->number, rc);
    if (pe->deferred && (rc = deferred_pump(pe)) < 0)
        return rc;
    acks_send(pe);
    sim_settle();
    return rc < 0 ? rc : moved;
}
