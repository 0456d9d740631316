/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts an operation into segments, each with a due time of its own. */
#include "emulator/wire/cut.h"

#include "emulator/fabric/copy.h"
#include "emulator/wire/random.h"
#include "emulator/wire/rate.h"

#include <errno.h>
#include <stdlib.h>

#define SEQUENCES 1024
#define EVENT_NS 1000

/* What like operations share. */
struct sequence {
    struct emu_random random;
    uint64_t segments, epoch; /* so many since the epoch began */
};

static struct sequence sequences[SEQUENCES];
static struct emu_random doorbells;
static struct emu_rate rate;
static uint64_t next_order, epoch;
static uint64_t tx_busy[EMU_NICS_MAX];

void emu_cut_init(void)
{
    uint64_t stream = (uint64_t)emu.mine->rank * (SEQUENCES + 1);

    for (unsigned i = 0; i < SEQUENCES; i++)
        emu_random_init(&sequences[i].random, emu.job->seed, stream + i);
    emu_random_init(&doorbells, emu.job->seed, stream + SEQUENCES);
    emu_rate_init(&rate, emu.settings.profile, emu.settings.time_scale);
}

void emu_cut_restart(void)
{
    epoch++;
}

static int rank_of(uint32_t slot)
{
    struct emu_peer *peer = emu_fabric_peer(slot);

    return peer ? peer->region->rank : EMU_ANY - 1;
}

void emu_link_now(const struct emu_op *op, uint64_t now, struct emu_link *link)
{
    struct emu_end src = {emu.mine->rank, (int)op->qp->context->nic}, dst = {EMU_ANY, EMU_ANY};

    if (emu.settings.faults.nrules)
        dst = (struct emu_end){rank_of(op->dst_slot), (int)op->dst_nic};
    emu_faults_link(&emu.settings.faults, now, src, dst, emu.settings.reorder_ns, link);
}

bool emu_cut_refuses(const struct emu_qp *qp, uint64_t now)
{
    struct emu_end src = {emu.mine->rank, (int)qp->context->nic}, any = {EMU_ANY, EMU_ANY};
    struct emu_link link;

    emu_faults_link(&emu.settings.faults, now, src, any, 0, &link);
    return link.full_ppm && emu_random_hits(&doorbells, link.full_ppm);
}

/* By rank, not by slot: the order in which processes joined is none of the seed's. */
static struct sequence *sequence_of(const struct emu_op *op)
{
    uint64_t words[] = {(uint64_t)rank_of(op->dst_slot), op->dst_nic, op->qp->context->nic, op->kind,
                        op->len};
    struct emu_random hash = {op->has_imm};
    struct sequence *sequence;

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        hash.state = emu_random_next(&hash) ^ words[i];
    sequence = &sequences[emu_random_next(&hash) % SEQUENCES];
    if (sequence->epoch != epoch) {
        sequence->epoch = epoch;
        sequence->segments = 0;
    }
    return sequence;
}

/* The time model's share of a due time; both NICs' queues move on. */
static uint64_t op_transit(const struct emu_op *op, uint64_t now, uint32_t len, bool first)
{
    uint64_t left = emu_rate_depart(&rate, now, len, first, &tx_busy[op->qp->context->nic]);
    struct emu_peer *peer;
    uint64_t busy, arrived;

    if (rate.ns_per_byte == 0 || !(peer = emu_fabric_peer(op->dst_slot)))
        return emu_rate_arrive(&rate, left, len, 0);
    busy = atomic_load_explicit(&peer->region->rx_busy[op->dst_nic], memory_order_relaxed);
    do
        arrived = emu_rate_arrive(&rate, left, len, busy);
    while (!atomic_compare_exchange_weak_explicit(&peer->region->rx_busy[op->dst_nic], &busy, arrived,
                                                  memory_order_relaxed, memory_order_relaxed));
    return arrived;
}

static void segment_push(struct emu_heap *heap, struct emu_segment segment)
{
    segment.order = next_order++;
    segment.op->left++;
    emu_heap_push(heap, segment);
}

/* A late duplicate has the payload as it is now, on its way through the network. Without memory there is none. */
static int segment_keep(struct emu_segment *segment)
{
    segment->data = malloc(segment->len);
    if (!segment->data)
        return -ENOMEM;
    if (emu_copy_gather(segment->op, segment->offset, segment->len, segment->data)) {
        free(segment->data);
        return -EFAULT;
    }
    segment->kind = EMU_SEGMENT_LATE;
    segment->op->late++;
    return 0;
}

/* Every number is drawn whether it is needed or not: a schedule depends on the seed and the posts alone. */
static void segment_schedule(struct emu_heap *heap, struct emu_segment segment, const struct emu_link *link,
                             struct emu_random *random)
{
    uint64_t second;
    bool twice;

    segment.due += emu_random_below(random, link->reorder_ns);
    second = segment.due + emu_random_below(random, 2 * link->reorder_ns + EVENT_NS);
    twice = emu_random_hits(random, link->duplicate_ppm);
    while (emu_random_hits(random, link->drop_ppm))
        segment.due += link->late_ns;
    segment_push(heap, segment);
    segment.due = second + link->again_ns;
    segment.kind = EMU_SEGMENT_AGAIN;
    if (!twice || segment.op->kind != EMU_WRITE || !segment.len)
        return;
    if (link->again_ns && segment_keep(&segment))
        return;
    segment_push(heap, segment);
}

void emu_cut(struct emu_op *op, uint64_t now, struct emu_heap *heap)
{
    uint32_t step = op->kind == EMU_SEND ? EMU_MESSAGE_MAX : EMU_MTU, offset = 0;
    struct sequence *sequence = sequence_of(op);
    struct emu_link link;

    emu_link_now(op, now, &link);
    if (emu_random_hits(&sequence->random, link.fail_ppm) && !op->status)
        op->status = (enum emu_status)link.fail_status;
    do {
        struct emu_segment segment = {.op = op, .offset = offset, .kind = EMU_SEGMENT_DATA};

        if (!op->status)
            segment.len = op->len - offset < step ? op->len - offset : step;
        if (emu.settings.replay)
            segment.due = now + ++sequence->segments * EVENT_NS;
        else
            segment.due = op_transit(op, now, segment.len, offset == 0);
        segment_schedule(heap, segment, &link, &sequence->random);
        offset += segment.len;
    } while (offset < op->len && !op->status);
}
