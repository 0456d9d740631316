/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules that the engine is held to in the world around it. */
#include "test/srd/world.h"

#include <errno.h>

void world_wrong_if(bool is, const char *what)
{
    if (is && !world_wrong)
        world_wrong = what;
}

static bool is_get(const struct operation *op)
{
    return op->op.kind == WSH_SRD_GET;
}

static bool has_message(const struct operation *op)
{
    return op->op.kind >= WSH_SRD_SIGNAL;
}

/* A write is certainly there once its count or its completion was taken; the network may deliver it that late. */
static bool data_there(const struct operation *op)
{
    for (uint32_t i = 0; i < op->op.segments; i++) {
        if (!(op->segment[i] & (SEG_COUNTED | SEG_ENDED)))
            return false;
    }
    return true;
}

static bool there(const struct operation *op)
{
    return op->accepted && data_there(op) && (!has_message(op) || op->msg == MSG_APPLIED);
}

/*
 * The effect of `op` may happen now: everything before a fence before it must have happened (table of the memory
 * ordering routines in the specification): puts, atomics, puts with signal, blocking or not; gets order nothing.
 */
static void check_order(const struct operation *op, const char *what)
{
    const struct source *source = &world.source[op->source];

    if (op->letter == 'n')
        return;
    for (int i = 0; i < source->n_ops; i++) {
        const struct operation *before = &source->ops[i];

        if (before->fences < op->fences && !is_get(before))
            world_wrong_if(!there(before), what);
    }
}

static bool refuses(struct operation *op)
{
    bool refuse = world_settings->full && !op->refused;

    op->refused = true;
    return refuse;
}

static int io_segment(void *arg, struct wsh_srd_op *sop)
{
    struct operation *op = (struct operation *)sop;

    (void)arg;
    if (refuses(op))
        return -EAGAIN;
    check_order(op, is_get(op) ? "a get overtakes what is before the fence"
                               : "a write overtakes what is before the fence");
    op->segment[sop->started] = (uint8_t)(SEG_STARTED | (sop->grouped ? SEG_COUNT_DUE : 0));
    return 0;
}

static int io_send(void *arg, struct wsh_srd_op *sop, struct wsh_srd_stamp *stamp)
{
    struct operation *op = (struct operation *)sop;

    (void)arg;
    if (refuses(op))
        return -EAGAIN;
    world_wrong_if(op->msg != MSG_NONE, "a message goes twice");
    op->stamp = *stamp;
    op->msg = MSG_FLIES;
    return 0;
}

const struct wsh_srd_io world_io = {io_segment, io_segment, io_send, NULL};

int world_apply(void *arg, void *msg)
{
    struct operation *op = msg;
    struct wsh_srd_rx_flow *rx_flow = arg;

    world_wrong_if(op->msg != MSG_HELD, "a message is applied twice");
    world_wrong_if(op->op.kind == WSH_SRD_SIGNAL && !data_there(op),
                   "early signal: its own data is not there");
    check_order(op, "a message is applied before what is before the fence");
    op->msg = MSG_APPLIED;
    if (op->op.kind == WSH_SRD_FETCH) {
        op->reply = REPLY_FLIES;
        op->reply_applied = rx_flow->applied;
        op->reply_counted = rx_flow->counted;
        wsh_srd_rx_flow_acked(rx_flow);
    }
    return 0;
}

struct wsh_srd_link *world_link(int s)
{
    return &world.source[world_settings->one_link ? 0 : s].own_link;
}

/* What the peer reserved is enough: receives and room for completions. */
void world_check_credits(void)
{
    for (int s = 0; s < SOURCES; s++) {
        const struct wsh_srd_link *link = world_link(s);

        world_wrong_if(link->msgs > link->msgs_max, "more messages than receives");
        world_wrong_if(link->imms > link->imms_max, "more counted writes than room for completions");
        world_wrong_if(link->fetches > link->fetches_max, "more replies than receives");
    }
}

void world_check_quiet(const struct source *source)
{
    world_wrong_if(wsh_srd_ctx_pending(&source->ctx), "the context's count differs from the flow's");
    for (int i = 0; i < source->n_ops; i++) {
        const struct operation *op = &source->ops[i];

        world_wrong_if(!there(op), "quiet returns before everything is applied");
        world_wrong_if(op->op.kind == WSH_SRD_FETCH && op->reply != REPLY_HERE,
                       "quiet returns before a value is fetched");
        for (uint32_t k = 0; k < op->op.segments; k++)
            world_wrong_if(!(op->segment[k] & SEG_ENDED), "quiet returns before a write or read is complete");
    }
}

void world_check_end(void)
{
    for (int s = 0; s < SOURCES; s++) {
        const struct source *source = &world.source[s];
        const struct wsh_srd_link *link = world_link(s);

        world_wrong_if(world_program[s][source->at] != '\0', "deadlock: a program does not go on");
        world_wrong_if(wsh_srd_flow_pending(&source->flow), "lost: something stays pending for ever");
        world_wrong_if(wsh_srd_flow_deferred(&source->flow) || source->flow.late,
                       "lost: something stays deferred");
        world_wrong_if(wsh_srd_rx_flow_waiting(&world.source[s].rx_flow), "lost: a message is held for ever");
        world_wrong_if(link->msgs || link->imms || link->fetches, "a credit is lost");
        world_check_quiet(source);
    }
}
