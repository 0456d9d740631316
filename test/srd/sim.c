/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Over a network that delivers in any order, completes late, refuses and stalls, no signal comes early, nothing that a
 * fence orders is overtaken, nothing is lost or applied twice, and quiet waits for all of it.
 * `sim [seeds [messages of each [first seed]]]`; WSH_TEST_LONG=1: 1,000 seeds of 100,000 messages.
 * timeout: 900
 */
#include "test/srd/sim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct sim sim;

static uint32_t pick(const uint32_t *of, uint32_t n)
{
    return of[sim_random(n)];
}

static void settings(bool deaf)
{
    static const uint32_t windows[] = {1, 2, 8, 64, 256, 256}, slots[] = {0, 1, 2, 8, 64, 64};
    static const uint32_t reaches[] = {1, 4, 32, 256, FLYING, FLYING};
    struct sim_settings *set = &sim.set;

    set->window = pick(windows, 6);
    set->slots = pick(slots, 6);
    set->reach = pick(reaches, 6);
    set->imm = sim_random(8) != 0;
    set->deaf = deaf;
    set->fence = (uint8_t)(sim_random(3) ? sim_random(160) : 0);
    set->refuse = (uint8_t)(sim_random(2) ? sim_random(100) : 0);
    set->stall = (uint8_t)(sim_random(2) ? sim_random(64) : 0);
    set->lazy = (uint8_t)(sim_random(2) ? 250 : sim_random(250));
    set->ack_messages = sim_random(2);
    for (uint32_t i = 0; i < 8; i++)
        set->weight[i] = (uint8_t)(sim_random(4) ? 1 + sim_random(20) : 0);
    set->weight[sim_random(8)] = 20;
}

/* Numbers start just before they wrap. */
static void init_flow(int i)
{
    static const uint32_t credits[] = {1, 3, 16, 64, 400};
    struct sim_flow *flow = &sim.flow[i];
    struct wsh_srd_link *link = &sim.link[i / CTXS];

    if (i % CTXS == 0)
        *link = (struct wsh_srd_link){
            .msgs_max = pick(credits, 5), .imms_max = 4 * pick(credits, 5), .fetches_max = pick(credits, 5)};
    wsh_srd_flow_init(&flow->flow, link, sim.set.window, sim.set.slots, sim.set.imm, flow->named);
    wsh_srd_rx_flow_init(&flow->rx_flow, sim.set.window, flow->held, (uint16_t)(1 + link->msgs_max / 4));
    flow->flow.sent = flow->flow.acked = flow->rx_flow.applied = flow->rx_flow.acked_applied =
        UINT32_MAX - 1000;
    flow->flow.imms = flow->flow.imms_acked = flow->rx_flow.counted = flow->rx_flow.acked_counted =
        UINT32_MAX - 500;
    flow->flow.condition.number = flow->rx_flow.condition = UINT16_MAX - 100;
    for (uint16_t k = 0; k < OPS; k++) {
        flow->op[k].index = k;
        flow->op[k].flow = (uint8_t)i;
        flow->free_op[flow->n_free++] = k;
    }
}

static uint32_t pick_weighted(void)
{
    uint32_t total = 0, at = 0, mark;

    for (uint32_t i = 0; i < 8; i++)
        total += sim.set.weight[i];
    for (mark = sim_random(total); mark >= sim.set.weight[at]; at++)
        mark -= sim.set.weight[at];
    return at;
}

/* 0 put, 1 counted put, 2 small put, 3 atomic, 4 large signal, 5 fetch, 6 get, 7 late signal */
static void describe(struct sim_op *op, uint32_t what)
{
    static const uint8_t kind[] = {WSH_SRD_PUT,    WSH_SRD_PUT,   WSH_SRD_PUT, WSH_SRD_MSG,
                                   WSH_SRD_SIGNAL, WSH_SRD_FETCH, WSH_SRD_GET, WSH_SRD_SIGNAL};
    bool segmented = what == 1 || what == 4 || what == 7;

    op->op.kind = kind[what];
    op->op.segments = segmented ? 1 + sim_random(SEGMENTS) : kind[what] <= WSH_SRD_GET;
    op->op.counted = what == 1;
    op->op.late = what == 7;
    op->op.unordered = what == 6 && sim_random(2);
    op->op.keep = op->op.segments > 1 || kind[what] == WSH_SRD_SIGNAL || sim_random(2);
    op->ordered = !op->op.unordered;
    op->fast = false;
    op->used = true;
    op->token = sim.random;
}

static bool begin_fast(struct sim_flow *flow, struct sim_op *op)
{
    if (!wsh_srd_put_fast(&flow->ctx, &flow->flow))
        return false;
    op->fast = true;
    op->op.grouped = false;
    op->op.started = 0;
    sim_begun(flow, op);
    if (!sim_io.write(NULL, &op->op))
        return true;
    wsh_srd_put_refused(&flow->ctx, &flow->flow);
    flow->missing[op->epoch % EPOCHS]--;
    flow->n_missing--;
    op->fast = false;
    return false;
}

static void begin(struct sim_flow *flow)
{
    struct sim_op *op = &flow->op[flow->free_op[--flow->n_free]];
    uint32_t what = pick_weighted();

    describe(op, what);
    if ((what == 0 || what == 2) && begin_fast(flow, op))
        return;
    if (what == 2) {
        op->op.kind = (uint8_t)wsh_srd_put_kind(&flow->ctx, &flow->flow, true);
        op->op.segments = op->op.kind == WSH_SRD_PUT;
        op->op.counted = wsh_srd_wants_counts(&flow->flow);
    }
    sim_begun(flow, op);
    switch (wsh_srd_submit(&flow->ctx, &flow->flow, &op->op, &sim_io)) {
    case 0: return;
    case -EAGAIN: break;
    default: sim.wrong++;
    }
    if (op->op.kind == WSH_SRD_GET || op->op.kind == WSH_SRD_FETCH)
        flow->n_awaited--;
    op->used = false;
    flow->free_op[flow->n_free++] = op->index;
    if (op->op.kind == WSH_SRD_GET)
        return;
    flow->missing[op->epoch % EPOCHS]--;
    flow->n_missing--;
}

static void fence(struct sim_flow *flow)
{
    if (flow->epoch - flow->oldest >= EPOCHS - 1)
        return;
    flow->epoch++;
    sim.fences++;
    if (!sim.set.deaf)
        wsh_srd_fence(&flow->ctx);
}

static void issue(void)
{
    struct sim_flow *flow = &sim.flow[sim_random(FLOWS)];

    for (uint32_t n = 1 + sim_random(8); n-- && flow->n_free;) {
        if (sim_chance(sim.set.fence))
            fence(flow);
        begin(flow);
    }
    sim_check_quiet(flow);
    sim_check_credits();
}

static void check_over(void)
{
    for (int i = 0; i < FLOWS; i++) {
        struct sim_flow *flow = &sim.flow[i];

        sim.lost += OPS - flow->n_free;
        sim.wrong += wsh_srd_flow_pending(&flow->flow) != 0 || wsh_srd_ctx_pending(&flow->ctx) != 0;
        sim.wrong += flow->n_missing || flow->n_awaited || wsh_srd_rx_flow_waiting(&flow->rx_flow);
    }
    for (int pe = 0; pe < PES; pe++)
        sim.wrong += sim.link[pe].msgs || sim.link[pe].imms || sim.link[pe].fetches || sim.at_target[pe];
}

/* Nothing is issued any more: what cannot go on for so long never will. */
static void drain(void)
{
    sim.set.stall = 0;
    sim.set.lazy = 0;
    for (uint32_t idle = 0; idle < 300;) {
        bool busy = sim_step_net();

        busy = sim_step_target() || busy;
        for (int pe = 0; pe < PES; pe++)
            sim_pump(pe);
        idle = busy ? 0 : idle + 1;
    }
    check_over();
}

static bool run(uint64_t seed, uint64_t messages, bool deaf)
{
    uint64_t idle = 0;

    memset(&sim, 0, sizeof sim);
    sim.random = (seed + 1) * 0x9e3779b97f4a7c15 | 1;
    for (int i = 0; i < 8; i++)
        sim_random(2);
    settings(deaf);
    for (int i = 0; i < FLOWS; i++)
        init_flow(i);
    while (sim.messages < messages && idle < 200000) {
        uint64_t before = sim.messages;

        issue();
        for (uint32_t n = sim_random(24); n--;)
            sim_step_net();
        sim_step_target();
        if (sim.set.refuse)
            sim_pump((int)sim_random(PES));
        idle = sim.messages == before ? idle + 1 : 0;
    }
    drain();
    return !(sim.early || sim.doubled || sim.wrong || sim.lost);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t argument(int argc, char **argv, int i, uint64_t otherwise)
{
    return i < argc ? strtoull(argv[i], NULL, 10) : otherwise;
}

/* Without its fences the same must be found broken. */
static int control(uint64_t seeds)
{
    uint64_t early = 0, broken = 0, fences = 0;

    for (uint64_t seed = 0; seed < seeds; seed++) {
        broken += !run(seed, 10000, true);
        early += sim.early;
        fences += sim.fences;
    }
    printf("control, fences left out: %llu of %llu seeds show it, %llu early effects at %llu fences\n",
           (unsigned long long)broken, (unsigned long long)seeds, (unsigned long long)early,
           (unsigned long long)fences);
    return early ? 0 : 1;
}

int main(int argc, char **argv)
{
    bool longer = getenv("WSH_TEST_LONG") != NULL;
    uint64_t seeds = argument(argc, argv, 1, longer ? 1000 : 60), first = argument(argc, argv, 3, 0);
    uint64_t messages = argument(argc, argv, 2, longer ? 100000 : 10000), total = 0, signals = 0, fences = 0;
    double start = seconds();

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        if (!run(seed, messages, false)) {
            printf("VIOLATION: seed %llu: %llu early, %llu lost, %llu applied twice, %llu otherwise wrong\n",
                   (unsigned long long)seed, (unsigned long long)sim.early, (unsigned long long)sim.lost,
                   (unsigned long long)sim.doubled, (unsigned long long)sim.wrong);
            return 1;
        }
        total += sim.messages;
        signals += sim.signals;
        fences += sim.fences;
    }
    printf("%llu messages over %llu seeds (%llu large puts with signal, %llu fences) in %.1f s: 0 early, 0 "
           "lost, "
           "0 twice\n",
           (unsigned long long)total, (unsigned long long)seeds, (unsigned long long)signals,
           (unsigned long long)fences, seconds() - start);
    return control(seeds < 20 ? seeds : 20);
}
