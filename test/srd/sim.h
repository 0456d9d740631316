/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the simulator: sources with two contexts each, a target, a network that delivers in any order over
 * two rails, and the books that say what was early, lost or doubled. Everything follows from the seed.
 */
#ifndef WSH_TEST_SRD_SIM_H
#define WSH_TEST_SRD_SIM_H

#include "transports/efa/srd/flow.h"
#include "transports/efa/srd/rx_flow.h"

#include <stdlib.h>

enum {
    PES = 3,
    CTXS = 2,
    FLOWS = PES * CTXS,
    RAILS = 2,
    OPS = 256,
    SEGMENTS = 4,
    EPOCHS = 1024,
    FLYING = 16384
};

enum event_kind { EV_WRITE, EV_READ, EV_MESSAGE, EV_COUNT, EV_END, EV_REPLY, EV_ACK };

struct event {
    uint8_t kind, flow, segment;
    uint8_t group;
    uint16_t op;
    uint32_t applied, counted; /* acked */
};

struct sim_op {
    struct wsh_srd_op op;
    struct wsh_srd_stamp stamp;
    uint64_t token; /* what its data must be when its signal comes */
    uint64_t cell[SEGMENTS];
    uint64_t epoch; /* by the books */
    uint16_t index;
    uint8_t flow, landed;
    bool fast, used, held, applied, replied, there, ordered;
};

struct sim_flow {
    struct wsh_srd_ctx ctx;
    struct wsh_srd_flow flow;
    struct wsh_srd_names named[WSH_SRD_WINDOW_MAX];
    struct wsh_srd_rx_flow rx_flow;
    struct wsh_srd_held held[WSH_SRD_WINDOW_MAX];
    struct sim_op op[OPS];
    uint16_t free_op[OPS];
    uint32_t n_free;
    uint64_t epoch, oldest;        /* fences by the books; the first epoch with something missing */
    uint16_t missing[EPOCHS];      /* operations of an epoch that have not had their effect */
    uint32_t n_missing, n_awaited; /* all of them; gets and replies to come */
};

struct sim_pool { /* events under way: any of them may be next */
    struct event event[FLYING];
    uint32_t n;
};

struct sim_settings {
    uint32_t window, slots, reach;      /* reach: how many of the events under way may be next */
    uint8_t fence, refuse, stall, lazy; /* chances of 256 */
    uint8_t weight[8];
    bool imm, deaf, ack_messages;
};

struct sim {
    uint64_t random;
    struct sim_settings set;
    struct wsh_srd_link link[PES];
    struct sim_flow flow[FLOWS];
    struct sim_pool net[RAILS];
    struct event cq[RAILS][FLYING]; /* at the target, in order */
    uint32_t cq_head[RAILS], cq_tail[RAILS];
    uint32_t at_target[PES]; /* messages of a PE sent and not applied: receives used */
    uint32_t stalled;        /* steps for which the target still makes no progress */
    uint64_t messages, early, doubled, wrong, lost, signals, fences;
};

extern struct sim sim;

static inline uint32_t sim_random(uint32_t below)
{
    sim.random ^= sim.random << 13;
    sim.random ^= sim.random >> 7;
    sim.random ^= sim.random << 17;
    return (uint32_t)((sim.random >> 32) * below >> 32);
}

static inline bool sim_chance(uint32_t of_256)
{
    return of_256 && sim_random(256) < of_256;
}

/* sim_net.c: gives to the network, and takes one step of it and of the target. */
extern const struct wsh_srd_io sim_io;
void sim_fly(const struct event *event);
void sim_pump(int pe);
bool sim_step_net(void);
bool sim_step_target(void);
/* The operation (or what was left of it) is over: its place may be used again. */
void sim_release(struct sim_flow *flow, struct sim_op *op);

/* sim_books.c */
void sim_begun(struct sim_flow *flow, struct sim_op *op);
/* The effect of `op` happens now: nothing from before a fence before it may be missing. */
void sim_effect(struct sim_flow *flow, const struct sim_op *op);
/* All of its effects have happened. */
void sim_there(struct sim_flow *flow, struct sim_op *op);
void sim_check_quiet(struct sim_flow *flow);
void sim_check_credits(void);

#endif
