/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on the wire: they are cut into segments, each of which lands at a due time of its own. Segments land in
 * the order of their due times, one at a time, from whichever thread of the process polls or from the engine.
 */
#ifndef EMU_WIRE_H
#define EMU_WIRE_H

#include "emulator/verbs/objects.h"
#include "emulator/queues/layout.h"
#include "emulator/verbs/status.h"

enum emu_op_kind { EMU_SEND, EMU_WRITE, EMU_READ };

struct emu_op {
    struct emu_op *next; /* in a batch */
    struct emu_qp *qp;
    uint64_t wr_id;
    enum emu_op_kind kind;
    enum emu_status status;
    bool has_imm, is_inline, addressed, from_ring;
    uint32_t imm;
    uint32_t nsge, len; /* len: sum of the pieces */
    struct emu_sge sge[EMU_SQ_SGES];
    uint32_t gpu[EMU_SQ_SGES]; /* that holds each piece, as in a registration */
    uint8_t data[EMU_WIDE_INLINE];
    uint32_t rkey;
    uint64_t raddr;
    uint32_t dst_slot, dst_nic, dst_qpn, qkey;
    bool reachable;
    uint32_t left;      /* segments that have not landed */
    uint32_t late;      /* of those, EMU_SEGMENT_LATE */
    uint32_t rnr_tries; /* so far */
    uint64_t silent_ns; /* since when its peer does not answer; 0: it does */
};

enum emu_segment_kind {
    EMU_SEGMENT_DATA,
    EMU_SEGMENT_AGAIN, /* the same payload a second time */
    EMU_SEGMENT_LATE, /* the payload as it was posted a second time, when the target may have its completion */
    EMU_SEGMENT_COUNTED, /* the payload is there; the word of the target's counter does not show it yet */
    EMU_SEGMENT_IMM,     /* the payload is there; there is no receive for its immediate data yet */
};

struct emu_segment {
    uint64_t due, order;
    struct emu_op *op;
    uint32_t offset, len;
    enum emu_segment_kind kind;
    uint64_t count; /* of a counted one: the number that the target's queue pair has given it */
    void *data;     /* of a late one: its payload, allocated */
};

/* The local pieces: their keys are looked up; an error is the operation's status. */
void emu_op_set_pieces(struct emu_op *op, size_t n, const struct ibv_sge *list);

/* Starts the engine; -errno if there is no thread to be had. */
int emu_wire_start(void);
/* Takes over the operations. */
void emu_wire_post(struct emu_op *ops);
/* Should this doorbell be refused, as the fault script says? */
bool emu_wire_refuses(struct emu_qp *qp);
/* A poll found something. */
void emu_wire_busy(void);
/* A poll found nothing: lands what is due. */
void emu_wire_pump(void);
/* The queue pair's operations end without a completion. */
void emu_wire_cancel(struct emu_qp *qp);
/* ns since the fabric's creation; in replay mode a clock of this process, 1000 for each event */
uint64_t emu_wire_now(void);

/* How the operation's link is at `now`. */
void emu_link_now(const struct emu_op *op, uint64_t now, struct emu_link *link);

/*
 * One segment lands, or does not yet: returns 0 when it is done with, else the time to try again. Called with no
 * region locked.
 */
uint64_t emu_segment_land(struct emu_segment *segment, uint64_t now);

#endif
