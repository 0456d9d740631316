/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of the world around the engine. */
#include "test/srd/world.h"

#include <stdio.h>
#include <string.h>

struct world world;
size_t world_size;
const struct settings *world_settings;
const char *world_program[SOURCES];
const char *world_wrong;

static void pump_all(void)
{
    for (int s = 0; s < SOURCES; s++)
        world_wrong_if(wsh_srd_pump(&world.source[s].flow, &world_io), "pump fails");
    world_check_credits();
}

static void source_ack(struct source *source, uint32_t applied, uint32_t counted)
{
    world_wrong_if(wsh_srd_flow_acked(&source->ctx, &source->flow, applied, counted) < 0,
                   "more is acked than there is");
}

/* 1: a blocking operation is still waited for; the program does not go on. */
static bool blocked(const struct source *source)
{
    const struct operation *last = source->n_ops ? &source->ops[source->n_ops - 1] : NULL;

    if (!last)
        return false;
    return (last->letter == 'g' && !(last->segment[0] & SEG_ENDED)) ||
           (last->letter == 'f' && last->reply != REPLY_HERE);
}

static void describe_op(struct source *source, struct operation *op, char letter)
{
    static const char letters[] = "wcCpasSlfFgn";
    static const uint8_t kind[] = {WSH_SRD_PUT,   WSH_SRD_PUT,    WSH_SRD_PUT,    WSH_SRD_PUT,
                                   WSH_SRD_MSG,   WSH_SRD_SIGNAL, WSH_SRD_SIGNAL, WSH_SRD_SIGNAL,
                                   WSH_SRD_FETCH, WSH_SRD_FETCH,  WSH_SRD_GET,    WSH_SRD_GET};

    op->letter = letter;
    op->fences = source->fences;
    op->op = (struct wsh_srd_op){.kind = kind[strchr(letters, letter) - letters], .keep = true};
    op->op.segments = letter == 'C' || letter == 'S' ? 2 : op->op.kind >= WSH_SRD_MSG ? 0 : 1;
    op->op.counted = letter == 'c' || letter == 'C';
    op->op.late = letter == 'l';
    op->op.unordered = letter == 'n';
}

/* A put that needs nothing of the engine but a count. */
static bool fast(struct source *source, struct operation *op)
{
    if ((op->letter != 'w' && op->letter != 'p') || !wsh_srd_put_fast(&source->ctx, &source->flow))
        return false;
    op->fast = true;
    if (!world_io.write(NULL, &op->op))
        return true;
    wsh_srd_put_refused(&source->ctx, &source->flow);
    op->fast = false;
    return false;
}

static bool all_counted_before(const struct source *source)
{
    for (int i = 0; i < source->n_ops; i++) {
        const struct operation *op = &source->ops[i];

        if (op->op.segments && !op->op.grouped && op->op.kind != WSH_SRD_GET)
            return false;
    }
    return true;
}

static void begin(struct source *source, char letter)
{
    struct operation *op = &source->ops[source->n_ops++];
    bool free = all_counted_before(source) && !wsh_srd_flow_deferred(&source->flow);

    describe_op(source, op, letter);
    op->accepted = true;
    if (fast(source, op))
        return;
    if (letter == 'p') {
        op->op.kind = (uint8_t)wsh_srd_put_kind(&source->ctx, &source->flow, true);
        op->op.segments = op->op.kind == WSH_SRD_PUT;
    }
    world_wrong_if(wsh_srd_submit(&source->ctx, &source->flow, &op->op, &world_io) != 0, "submit fails");
    if (world_settings->no_stall && free && (op->op.kind == WSH_SRD_MSG || op->op.kind == WSH_SRD_FETCH))
        world_wrong_if(op->msg == MSG_NONE, "a fence costs a round trip");
    world_check_credits();
}

/* The next letter of a source's program. */
static bool step_program(int s)
{
    struct source *source = &world.source[s];
    char letter = world_program[s][source->at];

    if (!letter || blocked(source) || (letter == 'q' && wsh_srd_flow_pending(&source->flow)))
        return false;
    source->at++;
    if (letter == 'q') {
        world_check_quiet(source);
    } else if (letter == '|') {
        source->fences++;
        if (!world_settings->deaf_fence)
            wsh_srd_fence(&source->ctx);
    } else {
        begin(source, letter);
    }
    return true;
}

static bool step_ack(int s)
{
    struct source *source = &world.source[s];

    if (!wsh_srd_rx_flow_may_ack(&world.source[s].rx_flow))
        return false;
    source->ack_flies = true;
    source->ack_applied = world.source[s].rx_flow.applied;
    source->ack_counted = world.source[s].rx_flow.counted;
    wsh_srd_rx_flow_ack_write(&world.source[s].rx_flow, true);
    return true;
}

static bool step_acked(int s)
{
    struct source *source = &world.source[s];

    if (!source->ack_flies)
        return false;
    source->ack_flies = false;
    source_ack(source, source->ack_applied, source->ack_counted);
    source->ack_applied = source->ack_counted = 0;
    wsh_srd_rx_flow_ack_write(&world.source[s].rx_flow, false);
    pump_all();
    return true;
}

/* The provider has room again. */
static bool step_room(int s)
{
    struct source *source = &world.source[s];
    const struct operation *head = (struct operation *)source->flow.writes.head;
    const struct operation *msg = (struct operation *)source->flow.msgs.head;

    if (!world_settings->full || !((head && head->refused && !head->op.started) || (msg && msg->refused)))
        return false;
    pump_all();
    return true;
}

static struct wsh_srd_sink sink_of(int s)
{
    return (struct wsh_srd_sink){world_apply, &world.source[s].rx_flow};
}

/* The target takes the immediate data of a write. */
static bool step_count(int s, struct operation *op, int k)
{
    const struct wsh_srd_sink sink = sink_of(s);
    struct wsh_srd_imm imm = wsh_srd_imm_unpack(wsh_srd_imm_pack((uint32_t)s, 7, op->op.group));

    if (!(op->segment[k] & SEG_COUNT_DUE))
        return false;
    op->segment[k] = (uint8_t)((op->segment[k] & ~SEG_COUNT_DUE) | SEG_COUNTED);
    world_wrong_if(wsh_srd_rx_flow_write(&world.source[imm.pe].rx_flow, imm.group, &sink) != 0,
                   "the target refuses an immediate");
    return true;
}

/* The source takes the completion of a write or read. */
static bool step_end(int s, struct operation *op, int k)
{
    struct source *source = &world.source[s];

    if (!(op->segment[k] & SEG_STARTED) || op->segment[k] & SEG_ENDED)
        return false;
    op->segment[k] |= SEG_ENDED;
    if (op->fast)
        wsh_srd_put_ended(&source->ctx, &source->flow, 1);
    else
        wsh_srd_op_ended(&source->ctx, &source->flow, &op->op);
    pump_all();
    return true;
}

static bool step_message(int s, struct operation *op)
{
    const struct wsh_srd_sink sink = sink_of(s);

    if (op->msg != MSG_FLIES)
        return false;
    op->msg = MSG_HELD;
    world_wrong_if(wsh_srd_rx_flow_message(&world.source[s].rx_flow, &op->stamp, op, &sink) != 0,
                   "the target refuses a message");
    return true;
}

static bool step_reply(int s, struct operation *op)
{
    struct source *source = &world.source[s];

    if (op->reply != REPLY_FLIES)
        return false;
    op->reply = REPLY_HERE;
    world_wrong_if(wsh_srd_flow_replied(&source->ctx, &source->flow) != 0, "a reply to nothing");
    source_ack(source, op->reply_applied, op->reply_counted);
    pump_all();
    return true;
}

enum { STEPS_OP = 2 * RAILS + 2, STEPS_SOURCE = 4 + OPS * STEPS_OP };

bool world_step(int step)
{
    static bool (*const general[])(int) = {step_program, step_ack, step_acked, step_room};
    int s = step / STEPS_SOURCE, of_source = step % STEPS_SOURCE, i = (of_source - 4) / STEPS_OP;
    int of_op = (of_source - 4) % STEPS_OP;
    struct operation *op;

    if (of_source < 4)
        return general[of_source](s);
    if (i >= world.source[s].n_ops)
        return false;
    op = &world.source[s].ops[i];
    if (of_op < RAILS)
        return step_count(s, op, of_op);
    if (of_op < 2 * RAILS)
        return step_end(s, op, of_op - RAILS);
    return of_op == 2 * RAILS ? step_message(s, op) : step_reply(s, op);
}

void world_step_name(int step, char *text, size_t size)
{
    static const char *const general[] = {"goes on in its program", "is sent an ack", "gets the ack",
                                          "has room"};
    static const char *const of[] = {"count 0", "count 1", "end 0", "end 1", "message", "reply"};
    int s = step / STEPS_SOURCE, of_source = step % STEPS_SOURCE;

    if (of_source < 4)
        snprintf(text, size, "source %d %s", s, general[of_source]);
    else
        snprintf(text, size, "source %d operation %d %s", s, (of_source - 4) / STEPS_OP,
                 of[(of_source - 4) % STEPS_OP]);
}

static void init_source(int s)
{
    struct source *source = &world.source[s];
    const struct settings *set = world_settings;
    struct wsh_srd_rx_flow *rx_flow = &world.source[s].rx_flow;

    source->own_link =
        (struct wsh_srd_link){.msgs_max = set->msgs, .imms_max = set->imms, .fetches_max = set->fetches};
    wsh_srd_flow_init(&source->flow, world_link(s), set->window, set->slots, set->imm, source->named);
    wsh_srd_rx_flow_init(rx_flow, set->window, world.source[s].held, 1);
    for (int i = 0; i < OPS; i++)
        source->ops[i].source = (uint8_t)s;
    if (!set->wrap)
        return;
    source->flow.sent = source->flow.acked = rx_flow->applied = rx_flow->acked_applied = UINT32_MAX - 1;
    source->flow.imms = source->flow.imms_acked = rx_flow->counted = rx_flow->acked_counted = UINT32_MAX;
    source->flow.condition.number = rx_flow->condition = UINT16_MAX;
    memset(source->flow.generation, WSH_SRD_GENERATIONS - 1, sizeof source->flow.generation);
    for (uint32_t i = 0; i < WSH_SRD_SLOTS; i++)
        rx_flow->group[i].generation = WSH_SRD_GENERATIONS - 1;
}

void world_init(const struct settings *settings, const char *const program[SOURCES])
{
    memset(&world, 0, sizeof world);
    world_size = (program[1][0] ? SOURCES : 1) * sizeof world.source[0];
    world_settings = settings;
    for (int s = 0; s < SOURCES; s++) {
        world_program[s] = program[s];
        init_source(s);
    }
}
