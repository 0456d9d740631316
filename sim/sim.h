/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulator of jobs: the library's own collectives, order and flow control over a simulated network, every PE a fiber
 * of one thread. Time is simulated; all that is random follows from the seed.
 */
#ifndef PERF_SIM_H
#define PERF_SIM_H

#include "sim/engine/events.h"
#include "sim/engine/fiber.h"
#include "sim/engine/map.h"
#include "sim/options.h"
#include "runtime/coll/request/state.h"
#include "sim/rows.h"
#include "runtime/job/job.h"
#include "runtime/wait/wait.h"
#include "transports/efa/nic/choice.h"
#include "transports/efa/srd/flow.h"
#include "transports/efa/srd/rx_flow.h"

#define SIM_CTXS 2 /* of a PE: the default one and that of its team's collectives */

enum sim_kind { SIM_WRITE, SIM_READ, SIM_MESSAGE, SIM_ACK, SIM_REPLY, SIM_TALLIED };

/* What one operation puts or gets, and the signal or atomic that its message carries. */
struct sim_op {
    struct wsh_srd_op srd; /* first */
    struct wsh_srd_stamp stamp;
    struct sim_out *out;
    struct sim_pe *source, *target;
    char *here, *there; /* data; of a message: there alone */
    size_t len, part;
    struct wsh_done *done;
    struct wsh_amo amo; /* of the message */
    char *word;         /* there; NULL: none */
    void *result;       /* here, of a fetch */
    uint64_t old;       /* its value */
    uint32_t left;      /* segments under way, and messages */
    bool fast;
    struct sim_op *of; /* of a message that has come back (mirror.h): what it is the like of */
    bool counts;       /* a counted put by writes alone: when all are there the target adds 1 to the word */
    bool in_pieces;    /* the one to that peer */
    uint32_t landed;   /* of its segments */
    char copy[];       /* of short data */
};

/* What travels: a segment of an operation, its message, a reply, or an ack. */
struct sim_packet {
    enum sim_kind kind;
    struct sim_pe *from, *to; /* of this direction */
    struct sim_op *op;
    struct sim_in *in; /* of an ack or reply: whose numbers it tells */
    uint32_t segment, applied, counted;
    uint8_t group;
    char *word;         /* to which a tallied write adds, or the last piece of one in pieces */
    bool tallied;       /* a write of a counted put */
    bool grouped, back; /* back: it brings the data of a read, or says that a write is complete */
    bool mirrored;
    int nic_from, nic_to;
    size_t len;
    struct sim_packet *next;
};

/* The source's end of what a context does with a peer, and the peer's credits. */
struct sim_link {
    struct wsh_srd_link srd;
    uint32_t counted, acked; /* tallied writes of the peer, here */
    uint32_t over;           /* there, counted by the NIC */
    bool in_pieces;          /* a counted put in pieces is under way to it */
};

struct sim_out {
    struct wsh_srd_flow srd;
    struct sim_ctx *ctx;
    struct sim_pe *peer;
    bool waiting;
    struct sim_out *next; /* in pe->deferred */
    struct wsh_srd_names named[];
};

/* The target's end. */
struct sim_in {
    struct wsh_srd_rx_flow srd;
    struct sim_pe *source;
    uint16_t ctx;
    bool ack_due;
    struct sim_in *next; /* in pe->acks */
    struct wsh_srd_held held[];
};

struct sim_ctx {
    struct wsh_tctx base;
    struct sim_pe *pe;
    struct wsh_srd_ctx srd;
    uint16_t number;
};

/* What a PE has given to its NICs, and the least that its calls of expert parallelism need. */
struct sim_tally {
    uint64_t messages, credits, bytes; /* messages: writes too */
    uint64_t least_messages, least_bytes;
};

struct sim_pe {
    int number, host;
    bool blocked, waking;
    bool stirred; /* something has happened to it since it last looked */
    bool polls;   /* at memory of other PEs of its host */
    bool over;    /* its program has ended */
    struct sim_fiber fiber;
    struct wsh_team team;
    struct wsh_coll coll;
    struct wsh_requests requests;
    struct sim_ctx ctx[SIM_CTXS];
    struct sim_map map; /* links, outs, ins by peer */
    char *heap;
    struct sim_packet *cq, **cq_end;  /* completions to look at */
    uint32_t n_cq, n_ops, n_receives; /* receives: messages held */
    struct sim_out *deferred;
    struct sim_in *acks;
    unsigned next_nic;
    struct wsh_efa_choice choice; /* of its NICs: what counted puts have gone lately */
    size_t bytes;                 /* of the engine's state */
    sim_time entered;
    struct sim_tally given, before; /* before the call that runs */
    const struct wsh_wait_why *why; /* of the wait that it is in */
    void *why_arg;
    uint64_t random;
    size_t used; /* of the heap */
    uint64_t round;
    void *program; /* what it keeps */
    int helped;    /* requests that its progress thread begins or advances */
};

struct sim_host {
    int first, n;     /* PEs */
    int pollers;      /* PEs that look at memory of others */
    bool full;        /* its PEs run; else it is mirrored */
    sim_time last_in; /* to the call that runs */
};

/* Of the machine on which all hosts are emulated. */
struct sim_core {
    sim_time free_from;
    const struct sim_pe *last;
};

struct sim_nic {
    sim_time tx_free, rx_free;
    uint32_t rx_queue;
};

/* What a run has counted. */
struct sim_counts {
    uint64_t messages, acks, writes, reads, bytes, locals, events, refused, rnr;
    uint32_t nic_queue, cq, deferred, receives; /* the longest */
    uint64_t helped;                            /* requests that threads have begun */
    size_t engine_bytes, engine_bytes_most;
};

struct sim {
    struct sim_options set;
    enum wsh_algo algo; /* WSH_ALGOS: as choice.c says */
    struct wsh_job job; /* shared: what differs between PEs is exchanged when another one runs */
    struct wsh_tp tp;
    struct wsh_tp_ops ops;
    struct wsh_rmem *rmem; /* [n_pes] */
    struct sim_pe *pe;     /* [n_pes] */
    struct sim_host *host;
    struct sim_core *core;      /* [set.cores] */
    struct sim_nic *nic;        /* [n_hosts * nics] */
    int n_pes, n_hosts, n_full; /* n_full: PEs that run */
    struct {
        int across, down; /* hosts, as the algorithm sees them: down is 1 for a circle */
    } torus;
    bool grid;            /* of an alltoall by rows and columns */
    struct sim_rows rows; /* of all teams */
    char **peer;
    sim_time now, debt; /* debt: of the CPU that runs, not yet waited for */
    struct sim_pe *running;
    struct sim_counts counts;
    uint32_t receives, window; /* of a PE, of a flow */
    int ended;
    bool mapped;      /* some host's memory is in rmem */
    bool stopped;     /* a violation was found */
    uint64_t lost_at; /* mutant: the message to lose */
    char *heaps, *stacks;
    size_t heap_len;
};

extern struct sim sim;

/* With so many bytes of symmetric memory behind the sync area of a team. Ends the program where there is no memory. */
void sim_open(const struct sim_options *set, size_t data_len);
size_t sim_area_len(int n_pes, int per_host);
void sim_close(void);
/* What the job says of the PE that runs from now on. */
void sim_enter(const struct sim_pe *pe);
/* Runs every PE's program to its end. 0, or -EPROTO: something was wrong (printed). */
int sim_run(void (*program)(struct sim_pe *pe));

/* By the fiber that runs: CPU time passes. */
void sim_spend(sim_time cost);
void sim_settle(void);
/* The PE is away for so long. */
void sim_sleep(sim_time time);
/* The same, while its progress thread works. */
void sim_compute(sim_time time);
/* Until somebody wakes this PE. */
void sim_block(struct sim_pe *pe);
void sim_wake(struct sim_pe *pe, sim_time after);
/* It may have written what others of its host look at. */
void sim_wake_lookers(struct sim_pe *pe);

/* net.c: gives a packet to the network at now + debt. */
void sim_net_send(struct sim_packet *packet);
void sim_net_event(const struct sim_event *event);
struct sim_packet *sim_packet_new(enum sim_kind kind, struct sim_pe *from, struct sim_pe *to, size_t len);
void sim_packet_free(struct sim_packet *packet);

/* engine.c */
int sim_progress(struct sim_pe *pe);
/* What a PE keeps of another one, by a key: NULL where nothing has been. */
enum { SIM_KEY_LINK, SIM_KEY_OUT, SIM_KEY_IN = SIM_KEY_OUT + SIM_CTXS, SIM_KEYS = SIM_KEY_IN + SIM_CTXS };
void *sim_state_find(const struct sim_pe *pe, int peer, int key);
struct sim_link *sim_link_of(struct sim_pe *pe, const struct sim_pe *peer);
struct sim_out *sim_out_of(struct sim_ctx *ctx, struct sim_pe *peer);
struct sim_in *sim_in_of(struct sim_pe *pe, struct sim_pe *source, uint16_t ctx);
struct sim_op *sim_op_new(struct sim_ctx *ctx, const struct wsh_rmem *rmem, size_t copied);
/* NICs of a PE of that host. */
int sim_nics_of(const struct sim_host *host);
int sim_submit(struct sim_ctx *ctx, struct sim_op *op, struct wsh_done *done);
void sim_post_fast(struct sim_op *op);

/* tp.c */
extern const struct wsh_tp_ops sim_tp_ops;
/* A word of the PE counts 1 more after so long. */
void sim_count_later(struct sim_pe *pe, char *word, double ns);
void sim_store_event(const struct sim_event *event);

/* Something is wrong: says so, once. */
void sim_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The CPU time of copying so many bytes. */
sim_time sim_copy_cost(size_t len);

static inline uint64_t sim_next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline uint64_t sim_below(uint64_t *state, uint64_t n)
{
    return n ? (sim_next_random(state) >> 16) % n : 0;
}

static inline bool sim_same_host(const struct sim_pe *a, const struct sim_pe *b)
{
    return a->host == b->host;
}

#endif
