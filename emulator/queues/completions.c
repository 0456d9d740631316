/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes completions into the memory of completion queues, and knows what their consumers acknowledge. */
#include "emulator/queues/queues.h"

#include "emulator/gpu.h"
#include "emulator/say.h"
#include "emulator/wire/wire.h"

#include <endian.h>
#include <stdlib.h>

#define BURST 256u
#define UNDRAINED_NS 1000000000ull

static struct emu_report report_of(const struct emu_cqe *cqe)
{
    struct emu_report report = {.id = cqe->wr_id,
                                .operation = cqe->operation,
                                .status = cqe->status,
                                .of_send_queue = cqe->flags & EMU_CQE_SEND_QUEUE,
                                .has_imm = cqe->flags & EMU_CQE_IMM,
                                .unsolicited = cqe->flags & EMU_CQE_UNSOLICITED,
                                .qpn = (uint16_t)cqe->qpn,
                                .src_qpn = (uint16_t)cqe->src_qpn,
                                .ahn = cqe->ahn,
                                .len = cqe->len,
                                .imm = be32toh(cqe->imm)};
    union ibv_gid gid;

    emu_gid_make(cqe->src_slot, cqe->src_nic, &gid);
    for (unsigned i = 0; i < sizeof gid.raw; i++)
        report.src_gid[i] = gid.raw[i];
    return report;
}

/* The word with the phase comes last. */
static void entry_store(const struct emu_cq_memory *memory, uint64_t *at, uint64_t *words)
{
    if (memory->gpu) {
        emu_gpu_copy(memory->gpu, (uintptr_t)(at + 1), words + 1, EMU_CQE_BYTES - 8, true);
        emu_gpu_copy(memory->gpu, (uintptr_t)at, words, 8, true);
        return;
    }
    for (unsigned i = 1; i < EMU_CQE_WORDS; i++)
        __atomic_store_n(&at[i], words[i], __ATOMIC_RELAXED);
    /* release: pairs with the consumer's fence between the phase and the rest */
    __atomic_store_n(at, words[0], __ATOMIC_RELEASE);
}

static void fire(struct emu_cq_memory *memory)
{
    if (!memory->armed)
        return;
    memory->armed = false;
    atomic_store_explicit(&memory->cq->shared->fired, 1, memory_order_relaxed);
    emu_region_wake(emu.mine);
}

void emu_cq_memory_put(struct emu_cq_memory *memory, const struct emu_cqe *cqe)
{
    struct emu_report report = report_of(cqe);
    uint64_t words[EMU_CQE_WORDS];
    uint32_t index = memory->written & (memory->entries - 1);

    emu_cqe_write(&report, !(memory->written / memory->entries & 1), words);
    entry_store(memory, memory->words + (size_t)index * EMU_CQE_WORDS, words);
    memory->written++;
    fire(memory);
}

/* The consumer's count has 16 bits; an arming is a doorbell that the last look has not seen. */
static void doorbell_read(struct emu_cq_memory *memory)
{
    uint32_t doorbell = atomic_load_explicit(memory->doorbell, memory_order_relaxed);

    memory->acked += (uint16_t)(doorbell - memory->acked_low);
    memory->acked_low = (uint16_t)doorbell;
    if (doorbell == memory->doorbell_seen)
        return;
    memory->doorbell_seen = doorbell;
    memory->promised |= (doorbell & EMU_CQ_DOORBELL_PROMISE) != 0;
    if (doorbell & EMU_CQ_DOORBELL_ARM) {
        memory->armed = true;
        if (memory->written != memory->acked)
            fire(memory);
    }
}

bool emu_cq_memory_has_room(struct emu_cq_memory *memory)
{
    uint64_t now;

    doorbell_read(memory);
    if (!memory->promised || memory->undrained ||
        (int32_t)(memory->written - memory->acked) < (int32_t)memory->entries) {
        memory->full_since = 0;
        return true;
    }
    now = emu_now_ns();
    if (!memory->full_since)
        memory->full_since = now;
    if (now - memory->full_since < UNDRAINED_NS)
        return false;
    memory->undrained = true;
    emu_violation_say(EMU_WRONG_UNDRAINED, emu_context_of(memory->cq->ibv.context)->nic, "completion queue",
                      memory->cq->index);
    return true;
}

bool emu_cq_memory_serve(struct emu_cq_memory *memory)
{
    unsigned n = 0;

    if (atomic_exchange_explicit(&memory->cq->shared->armed, 0, memory_order_relaxed))
        memory->armed = true;
    while (n < BURST && emu_cq_memory_has_room(memory) && emu_cq_take(memory->cq)) {
        emu_cq_memory_put(memory, &memory->cq->current);
        n++;
    }
    return n > 0;
}

void emu_cq_memory_forget(struct emu_cq_memory *memory, uint32_t qpn)
{
    struct emu_report report;

    if (memory->gpu || !memory->promised || memory->undrained)
        return;
    doorbell_read(memory);
    for (uint32_t at = memory->acked; at != memory->written; at++) {
        emu_cqe_read(memory->words + (size_t)(at & (memory->entries - 1)) * EMU_CQE_WORDS, &report);
        if (report.qpn == qpn)
            memory->acked++;
    }
}
