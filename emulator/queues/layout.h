/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an EFA device's queue entries look like: the only place that knows where their fields are. Entries are little
 * endian and are seen here as 64-bit words. Pure functions.
 */
#ifndef EMU_LAYOUT_H
#define EMU_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_WQE_BYTES 64
#define EMU_WIDE_WQE_BYTES 128
#define EMU_WQE_WORDS 8
#define EMU_WIDE_WQE_WORDS 16
#define EMU_RQE_BYTES 16
#define EMU_RQE_WORDS 2
#define EMU_CQE_BYTES 32
#define EMU_CQE_WORDS 4
#define EMU_WIDE_INLINE 80 /* bytes in a wide entry */

/* The first word of a send entry; the second is immediate, address handle, hints; the third the queue key. */
#define EMU_WQE_IMM (1ull << 20)
#define EMU_WQE_INLINE (1ull << 21)
#define EMU_WQE_META (1ull << 23)
#define EMU_WQE_PHASE (1ull << 24)
#define EMU_WQE_FIRST (1ull << 26)
#define EMU_WQE_LAST (1ull << 27)
#define EMU_WQE_COMPLETE (1ull << 28)
#define EMU_WQE_ALWAYS (EMU_WQE_META | EMU_WQE_FIRST | EMU_WQE_LAST | EMU_WQE_COMPLETE)
#define EMU_WQE_MBZ (1ull << 22 | 1ull << 25 | 7ull << 29)

/* The second word of a receive descriptor. */
#define EMU_RQE_FIRST (1ull << 62)
#define EMU_RQE_LAST (1ull << 63)

/* The first word of a completion. */
#define EMU_CQE_PHASE (1ull << 24)

/*
 * The doorbell of a completion queue: how many entries have been consumed, and whether an event is wanted. libfabric
 * rings it only where a poll ends before the queue is empty; a consumer that promises to acknowledge every entry, by a
 * bit of the emulated device alone, is held to it.
 */
#define EMU_CQ_DOORBELL_PROMISE (1u << 16)
#define EMU_CQ_DOORBELL_ARM (1u << 31)
#define EMU_CQ_DOORBELL_COUNT 0xffffu

/* Operations, as the device numbers them. */
enum { EMU_IO_SEND, EMU_IO_READ, EMU_IO_WRITE, EMU_IO_OPERATIONS };

struct emu_piece {
    uint64_t addr;
    uint32_t len, key;
};

/* A work request of a send queue. */
struct emu_request {
    uint64_t id; /* 64 bits, of which a narrow id uses 16 */
    unsigned operation, pieces;
    bool has_imm, is_inline;
    uint16_t dst_qpn, ahn;
    uint32_t qkey, imm; /* imm: in the host's order */
    uint32_t len;       /* of inline data, or as the entry says for its remote side */
    struct emu_piece piece[2], remote;
    unsigned char data[EMU_WIDE_INLINE];
};

/* What a completion says. `operation`: of the request, or of what arrived. */
struct emu_report {
    uint64_t id;
    unsigned operation;
    uint8_t status;
    bool of_send_queue, has_imm, unsolicited;
    uint16_t qpn, src_qpn, ahn;
    uint32_t len, imm;
    unsigned char src_gid[16];
};

/* A receive descriptor. */
struct emu_buffer {
    struct emu_piece piece;
    uint16_t id;
    bool first, last;
};

/* `pieces` may be more than the entry has room for: only so many are filled. */
void emu_wqe_read(const uint64_t *words, struct emu_request *request);
/* The inverse, for tests and for those who post as a kernel would; `phase` 0 or 1. Fills `nwords`. */
void emu_wqe_write(const struct emu_request *request, unsigned phase, uint64_t *words, unsigned nwords);
void emu_rqe_read(const uint64_t *words, struct emu_buffer *buffer);
void emu_rqe_write(const struct emu_buffer *buffer, uint64_t *words);
void emu_cqe_write(const struct emu_report *report, unsigned phase, uint64_t *words);
void emu_cqe_read(const uint64_t *words, struct emu_report *report);

#endif
