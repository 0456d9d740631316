/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device's view of queues in memory: takes what has been announced by a doorbell, and tells what whoever posts
 * did wrong, which hardware would not say. Knows nothing of threads, verbs and the network.
 *
 * An entry that has been taken is overwritten by EMU_UNWRITTEN in all its words: so an entry seen in parts, one that
 * is there without a doorbell, and how many of those there are can be told.
 */
#ifndef EMU_CHECKS_H
#define EMU_CHECKS_H

#include "emulator/queues/layout.h"

#include <stdatomic.h>

#define EMU_UNWRITTEN 0x5afe9e17b0d1e5e5ull
#define EMU_MAX_BATCH 16
#define EMU_UNRUNG_NS 2000000000ull

#define EMU_VIOLATIONS(V)                                                                                    \
    V(TORN, "a work request is there in parts only: a doorbell may follow the whole of it")                  \
    V(CHANGED, "a work request changes behind its doorbell")                                                 \
    V(PHASE, "a work request has the phase of another turn of the queue")                                    \
    V(CONTROL, "a work request lacks a bit that is always set, or has one that is never set")                \
    V(OPERATION, "a work request for an operation that there is not")                                        \
    V(PIECES, "a work request with more pieces of memory than the operation takes (a send 2, others 1)")     \
    V(INLINE, "a work request with inline data where, or so long as, its queue does not take it")            \
    V(LENGTH, "a work request whose remote length is not that of its pieces")                                \
    V(BATCH, "more than 16 work requests without a doorbell")                                                \
    V(UNRUNG, "work requests wait for a doorbell for more than 2 s")                                         \
    V(LEFT, "a queue pair ends with work requests that no doorbell has announced")                           \
    V(DOORBELL, "a doorbell went backwards, or beyond the queue's end")                                      \
    V(FULL, "more work requests than the send queue has places: completions were not awaited")               \
    V(RECEIVES, "more receives than the receive queue has places")                                           \
    V(DESCRIPTOR, "the descriptors of a receive do not go from a first to a last one, 3 at most")            \
    V(UNDRAINED, "a completion queue is full for a second: its consumer does not drain it, or does not say " \
                 "so at its doorbell")

#define EMU_VIOLATION_NAME(name, text) EMU_WRONG_##name,
enum emu_violation { EMU_GOOD, EMU_VIOLATIONS(EMU_VIOLATION_NAME) EMU_VIOLATION_KINDS };
#undef EMU_VIOLATION_NAME

const char *emu_violation_text(enum emu_violation violation);

/* A send or a receive queue. Entries are a power of two. */
struct emu_ring {
    uint64_t *words;
    _Atomic uint32_t *doorbell;
    uint32_t entries, entry_words;
    uint32_t taken;             /* so far */
    _Atomic uint32_t completed; /* of those; a send queue's */
    uint64_t unrung_since;      /* 0: nothing is unrung */
};

/* All entries unwritten. */
void emu_ring_clear(struct emu_ring *ring);
/* How many entries have a doorbell and have not been taken; more than the ring has, if the doorbell is wrong. */
uint32_t emu_ring_announced(const struct emu_ring *ring);
/* How many entries are there without a doorbell, counted to the first that is not there. */
uint32_t emu_ring_unrung(const struct emu_ring *ring);

/*
 * The next announced entry of a send queue, which is taken even if there is something wrong with it: then its id alone
 * may be relied on, if at all. Only where emu_ring_announced says that there is one.
 */
enum emu_violation emu_send_take(struct emu_ring *ring, struct emu_request *request);
/* Takes the next entry without a look at anything but its id; of one without a doorbell, too. */
uint64_t emu_send_discard(struct emu_ring *ring);
/* What a look at a send queue whose announced entries are all taken finds. `now_ns` is not 0. */
enum emu_violation emu_send_watch(struct emu_ring *ring, uint64_t now_ns);

/*
 * The announced descriptors of the next receive into `buffers`: how many, or 0 with the violation (EMU_GOOD: none is
 * there yet).
 */
unsigned emu_receive_take(struct emu_ring *ring, struct emu_buffer *buffers, unsigned most,
                          enum emu_violation *violation);

#endif
