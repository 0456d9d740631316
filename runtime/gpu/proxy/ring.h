/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The consumer of the device rings (device/proxy/ring.h): takes records, passes them to the executor that it was given,
 * answers, and counts. It does not depend on GPUs, PEs or transports. One thread at a time.
 */
#ifndef WSH_PROXY_RING_H
#define WSH_PROXY_RING_H

#include "device/proxy/ring.h"
#include "transports/transport.h"

/* A record, decoded. */
struct wsh_ring_request {
    enum wsh_ring_kind kind;
    enum wsh_amo_op op;
    bool fenced, answer;
    unsigned pieces, positions;
    int pe;
    size_t len;
    uint64_t sym, value, second, compare;
    void *payload; /* source of puts, where results go: in the ring, or zero-copy */
    size_t *taken; /* of a strided record: elements started so far, counted up by whoever starts them */
};

/*
 * The executor of records. start: PUT, SIGNAL, PUT_WORD (the value lies in the payload), GET, GET_WORD, AMO, IPUT,
 * IGET, PUT_ZERO_COPY, SIGNAL_ZERO_COPY, GET_ZERO_COPY (`done` is NULL where these are nonblocking); 0, -EAGAIN (it
 * will be tried again; a strided one goes on behind *taken) or a final, logged error; `done` reaches 0 when the payload
 * may be used again (puts) or holds the result. fence: orders what was started before what will be; -EAGAIN as above.
 * pending: started and not complete, or with `sources` what still reads its source or is a get; `awaited`: somebody
 * waits for it. batch (may be NULL): what is started between true and false may be given to a NIC together; 0 or final.
 */
struct wsh_consumer_ops {
    int (*start)(void *arg, const struct wsh_ring_request *request, struct wsh_done *done);
    int (*fence)(void *arg);
    size_t (*pending)(void *arg, bool sources, bool awaited);
    int (*batch)(void *arg, bool begin);
};

/* ASIDE: taken, and not started yet. */
enum wsh_ring_slot_state {
    WSH_RING_SLOT_PLAIN,
    WSH_RING_SLOT_DUE,
    WSH_RING_SLOT_ANSWERED,
    WSH_RING_SLOT_ASIDE
};

/* Records that found no room and let others pass; of one PE at most. */
#ifndef WSH_ASIDE
#define WSH_ASIDE 64
#endif
#define WSH_ASIDE_PE (WSH_ASIDE / 8 ? WSH_ASIDE / 8 : 1)

struct wsh_aside {
    struct wsh_ring_request request;
    uint64_t at;
    uint16_t ring;
};

/* What the consumer keeps of a record that it has started, at its first slot. */
struct wsh_ring_slot {
    struct wsh_done done;
    uint16_t n; /* positions */
    uint8_t state;
};

struct wsh_consumer_ring {
    struct wsh_ring *ring;
    uint64_t started, done, read, freed; /* as published, or about to be */
    uint64_t stop;                       /* of a quiet or flush: not to be passed */
    size_t taken;                        /* elements of the record at `started` */
    bool stopped;
    uint32_t n_due;
    uint16_t due[WSH_RING_PIECES]; /* slots whose answer is owed */
    struct wsh_ring_slot slot[WSH_RING_PIECES];
    uint64_t word[WSH_RING_PIECES]; /* results that travel with answers; apart, for most records have none */
    struct wsh_ring_spans *spans;   /* NULL where nothing is traced */
};

struct wsh_consumer_stats {
    uint64_t records;
    uint64_t bytes, copied;                    /* copied: those that went through the ring */
    uint64_t fences, quiets, flushes, refused; /* refused: not started, tried again or failed */
    uint64_t waits; /* of device code: its quiets and flushes, and what is answered */
    uint64_t depth; /* the most positions taken and not freed */
};

/* What nothing more is taken for. */
enum wsh_consumer_hold { WSH_HOLD_NONE, WSH_HOLD_FLUSH, WSH_HOLD_QUIET };

struct wsh_consumer {
    const struct wsh_consumer_ops *ops;
    void *arg;
    unsigned n_rings;
    uint32_t epoch;
    enum wsh_consumer_hold holds;
    uint16_t n_aside;
    int waits_for;                     /* PE of the first one. Relaxed: for reports */
    struct wsh_aside aside[WSH_ASIDE]; /* the oldest first */
    struct wsh_consumer_stats stats;
    struct wsh_consumer_ring ring[]; /* [n_rings] */
};

/* Over rings[n] that are zero. NULL: no memory. */
struct wsh_consumer *wsh_consumer_open(struct wsh_ring *rings, unsigned n, const struct wsh_consumer_ops *ops,
                                       void *arg);
void wsh_consumer_close(struct wsh_consumer *consumer);

/* Where a trace asks for it: records of these rings are on the line of proxy thread `number` from now on. */
void wsh_consumer_trace(struct wsh_consumer *consumer, unsigned number);

/* In place, where there are wsh_consumer_size(n) bytes. */
size_t wsh_consumer_size(unsigned n);
void wsh_consumer_init(struct wsh_consumer *consumer, struct wsh_ring *rings, unsigned n,
                       const struct wsh_consumer_ops *ops, void *arg);

/* One round over all rings. > 0: did something; 0: nothing to do; < 0: final, logged error. */
int wsh_consumer_step(struct wsh_consumer *consumer);

/*
 * Takes what is visible in all rings, then nothing more until all of it is complete, or for a flush its sources have
 * been read: `holds` until then.
 */
void wsh_consumer_hold(struct wsh_consumer *consumer, enum wsh_consumer_hold hold);

/* What is there at this moment, for reports; by the consumer's thread. */
struct wsh_consumer_snapshot {
    unsigned in_use;   /* positions taken and not freed, of all rings */
    unsigned owed;     /* answers */
    unsigned deferred; /* rings whose next record is there and is not taken yet */
    unsigned aside;    /* records set aside, since their transport had no room */
    int waits_for;     /* the PE of the oldest record set aside */
};

struct wsh_consumer_snapshot wsh_consumer_snapshot(const struct wsh_consumer *consumer);

/* By any thread: nothing is visible that was not taken, and all that was is complete. */
bool wsh_rings_are_idle(const struct wsh_ring *rings, unsigned n);

#endif
