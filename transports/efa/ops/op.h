/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the ordering engine: made, given their data, submitted, and started again after waiting. */
#ifndef WSH_EFA_OP_H
#define WSH_EFA_OP_H

#include "transports/efa/set/flow.h"
#include "transports/efa/wire/req.h"
#include "transports/efa/srd/flow.h"
#include "transports/efa/wire/wire.h"

struct wsh_efa_set;

/* An operation of the engine's slow path. */
struct wsh_efa_op {
    struct wsh_srd_op srd; /* first */
    struct wsh_efa_flow *flow;
    struct wsh_done *done;
    char *local;
    void *desc;
    uint64_t addr, key; /* remote */
    size_t len, part;   /* bytes of the data, of one segment */
    bool bounce;        /* through buffers of ours */
    uint8_t what;       /* enum wsh_efa_what; WSH_EFA_WHATS: counted elsewhere */
    uint32_t in_flight; /* segments given to the provider and not complete */
    uint32_t reported;  /* natively: segments that the engine takes for complete */
    bool noted;         /* is in set->ops.noted */
    struct wsh_efa_req *
        msg; /* its message, or a PUT's copied data, until sent; SIGNAL with segments: made then, of the two below */
    uint32_t counter, generation; /* of a PUT by counter */
    bool counts;                  /* its message is that of a counted put, which nobody may be waiting for */
    struct wsh_efa_target signal; /* the word to change, */
    uint64_t value;               /* by this operand */
    struct wsh_efa_op *next;      /* in set->ops.noted or set->ops.free */
};

/* Those of an endpoint set. */
struct wsh_efa_ops {
    struct wsh_srd_io io;
    uint64_t given;           /* writes, reads and messages given to the provider by the engine */
    struct wsh_efa_op *noted; /* to be settled when the engine returns */
    struct wsh_efa_op *free, *slab;
    uint32_t n_free;
};

int wsh_efa_op_init(struct wsh_efa_set *set);
/* An op of this kind, everything else zero; NULL: too many are under way. */
struct wsh_efa_op *wsh_efa_op_new(struct wsh_efa_set *set, struct wsh_efa_flow *flow, enum wsh_srd_kind kind,
                                  enum wsh_efa_what what);
/* Gives the op its data: local bytes and their remote place, in segments. */
void wsh_efa_op_data(struct wsh_efa_set *set, struct wsh_efa_op *op, const void *local, size_t len,
                     uint64_t addr, uint64_t key);
/* Cuts the data into so many pieces, or more where one operation takes no more. */
void wsh_efa_op_cut(struct wsh_efa_set *set, struct wsh_efa_op *op, uint32_t pieces);
/* Starts or defers it, and counts it in `done`. -EAGAIN or final: it is gone. */
int wsh_efa_op_submit(struct wsh_efa_set *set, struct wsh_efa_op *op, struct wsh_done *done);
/* Submits an op that is the message in req; takes both back if that fails. */
int wsh_efa_op_message(struct wsh_efa_set *set, struct wsh_efa_flow *flow, struct wsh_efa_req *req,
                       enum wsh_efa_what what);
/* The same for a message of a counted put. */
int wsh_efa_op_message_counted(struct wsh_efa_set *set, struct wsh_efa_flow *flow, struct wsh_efa_req *req);
/* Gives back an op, and its message, of which nothing was started. */
void wsh_efa_op_refuse(struct wsh_efa_set *set, struct wsh_efa_op *op);
void wsh_efa_op_part_done(struct wsh_efa_set *set, struct wsh_efa_op *op);
/* The flow may have something deferred. */
void wsh_efa_op_wait(struct wsh_efa_set *set, struct wsh_efa_flow *flow);
/* Starts what can be started of all that is deferred. > 0: something was; < 0: final. */
int wsh_efa_op_progress(struct wsh_efa_set *set);

#endif
