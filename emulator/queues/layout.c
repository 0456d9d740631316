/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the queue entries of an EFA device. */
#include "emulator/queues/layout.h"

#include <string.h>

#define CQE_SEND 1u
#define CQE_RECEIVE 2u

static struct emu_piece piece_read(const uint64_t *words, uint32_t key_mask)
{
    return (struct emu_piece){words[1], (uint32_t)words[0], (uint32_t)(words[0] >> 32) & key_mask};
}

static void piece_write(const struct emu_piece *piece, uint64_t *words)
{
    words[0] = piece->len | (uint64_t)piece->key << 32;
    words[1] = piece->addr;
}

/* Local keys have 24 bits, remote ones 32. A send has two pieces at 32; the others the remote at 32, one at 48. */
static void pieces_read(const uint64_t *words, struct emu_request *request)
{
    unsigned at = request->operation == EMU_IO_SEND ? 4 : 6, most = request->operation == EMU_IO_SEND ? 2 : 1;

    for (unsigned i = 0; i < request->pieces && i < most; i++)
        request->piece[i] = piece_read(words + at + 2 * i, 0xffffff);
}

void emu_wqe_read(const uint64_t *words, struct emu_request *request)
{
    unsigned count = (unsigned)(words[0] >> 48), at;

    *request = (struct emu_request){.id = (words[0] & 0xffff) | (words[3] & ~0xffffull),
                                    .operation = (unsigned)(words[0] >> 16) & 15,
                                    .has_imm = words[0] & EMU_WQE_IMM,
                                    .is_inline = words[0] & EMU_WQE_INLINE,
                                    .dst_qpn = (uint16_t)(words[0] >> 32),
                                    .imm = (uint32_t)words[1],
                                    .ahn = (uint16_t)(words[1] >> 32),
                                    .qkey = (uint32_t)words[2]};
    if (request->operation != EMU_IO_SEND)
        request->remote = piece_read(words + 4, UINT32_MAX);
    if (!request->is_inline) {
        request->pieces = count;
        pieces_read(words, request);
        request->len = request->remote.len;
        return;
    }
    at = request->operation == EMU_IO_SEND ? 4 : 6;
    request->len = count;
    memcpy(request->data, words + at, count < EMU_WIDE_INLINE ? count : EMU_WIDE_INLINE);
}

void emu_wqe_write(const struct emu_request *request, unsigned phase, uint64_t *words, unsigned nwords)
{
    unsigned at = request->operation == EMU_IO_SEND ? 4 : 6;
    uint64_t count = request->is_inline ? request->len : request->pieces;

    memset(words, 0, nwords * sizeof *words);
    words[0] = (request->id & 0xffff) | (uint64_t)request->operation << 16 | EMU_WQE_ALWAYS |
               (request->has_imm ? EMU_WQE_IMM : 0) | (request->is_inline ? EMU_WQE_INLINE : 0) |
               (phase ? EMU_WQE_PHASE : 0) | (uint64_t)request->dst_qpn << 32 | count << 48;
    words[1] = request->imm | (uint64_t)request->ahn << 32;
    words[2] = request->qkey;
    words[3] = request->id & ~0xffffull;
    if (request->operation != EMU_IO_SEND)
        piece_write(&request->remote, words + 4);
    if (request->is_inline)
        memcpy(words + at, request->data, request->len);
    else
        for (unsigned i = 0; i < request->pieces && at + 2 * i + 2 <= nwords && i < 2; i++)
            piece_write(&request->piece[i], words + at + 2 * i);
}

void emu_rqe_read(const uint64_t *words, struct emu_buffer *buffer)
{
    *buffer = (struct emu_buffer){
        .piece = {words[0], (uint32_t)(words[1] >> 16) & 0xffff, (uint32_t)(words[1] >> 32) & 0xffffff},
        .id = (uint16_t)words[1],
        .first = words[1] & EMU_RQE_FIRST,
        .last = words[1] & EMU_RQE_LAST};
}

void emu_rqe_write(const struct emu_buffer *buffer, uint64_t *words)
{
    words[0] = buffer->piece.addr;
    words[1] = buffer->id | (uint64_t)(buffer->piece.len & 0xffff) << 16 |
               (uint64_t)(buffer->piece.key & 0xffffff) << 32 | (buffer->first ? EMU_RQE_FIRST : 0) |
               (buffer->last ? EMU_RQE_LAST : 0);
}

/* Send side: the rest of a wide id from byte 6 on. Receive side: what came from whom; behind it the rest of the length,
   or the address of a sender without handle. */
void emu_cqe_write(const struct emu_report *report, unsigned phase, uint64_t *words)
{
    uint64_t flags = (phase & 1) | (report->of_send_queue ? CQE_SEND : CQE_RECEIVE) << 1 |
                     (report->has_imm ? 8u : 0) | report->operation << 4 | (report->unsolicited ? 128u : 0);

    memset(words, 0, EMU_CQE_BYTES);
    words[0] =
        (report->id & 0xffff) | (uint64_t)report->status << 16 | flags << 24 | (uint64_t)report->qpn << 32;
    if (report->of_send_queue) {
        words[0] |= (report->id >> 16 & 0xffff) << 48;
        words[1] = report->id >> 32;
        return;
    }
    words[0] |= (uint64_t)(report->len & 0xffff) << 48;
    words[1] = report->ahn | (uint64_t)report->src_qpn << 16 | (uint64_t)report->imm << 32;
    if (report->operation == EMU_IO_WRITE)
        words[2] = report->len >> 16;
    else if (report->ahn == 0xffff)
        memcpy(words + 2, report->src_gid, sizeof report->src_gid);
}

void emu_cqe_read(const uint64_t *words, struct emu_report *report)
{
    unsigned flags = (unsigned)(words[0] >> 24) & 255;

    *report = (struct emu_report){.id = words[0] & 0xffff,
                                  .status = (uint8_t)(words[0] >> 16),
                                  .operation = flags >> 4 & 7,
                                  .of_send_queue = (flags >> 1 & 3) == CQE_SEND,
                                  .has_imm = flags & 8,
                                  .unsolicited = flags & 128,
                                  .qpn = (uint16_t)(words[0] >> 32)};
    if (report->of_send_queue) {
        report->id |= words[0] >> 48 << 16 | (words[1] & UINT32_MAX) << 32;
        return;
    }
    report->len = (uint32_t)(words[0] >> 48) |
                  (report->operation == EMU_IO_WRITE ? (uint32_t)(words[2] & 0xffff) << 16 : 0);
    report->ahn = (uint16_t)words[1];
    report->src_qpn = (uint16_t)(words[1] >> 16);
    report->imm = (uint32_t)(words[1] >> 32);
}
