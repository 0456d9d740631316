/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts into rings in memory, and reads completions from there. */
#include "emulator/queues/queues.h"
#include "emulator/unit/poster.h"

#include "test/common/unit.h"

#include <sched.h>

#define WAIT_MS 20000

struct wq_attr {
    uint64_t comp_mask;
    uint64_t *buffer;
    uint32_t entry_size, num_entries;
    uint32_t *doorbell;
    uint32_t max_batch;
    uint16_t caps;
    uint8_t reserved[2];
};

struct cq_attr {
    uint64_t comp_mask;
    uint64_t *buffer;
    uint32_t entry_size, num_entries;
    uint32_t *doorbell;
};

int efadv_query_qp_wqs(struct ibv_qp *qp, void *sq, void *rq, uint32_t len);
int efadv_query_cq(struct ibv_cq *cq, void *attr, uint32_t len);

static struct poster_ring ring_of(const struct wq_attr *attr)
{
    return (struct poster_ring){attr->buffer, attr->num_entries, attr->entry_size / 8, 0, attr->doorbell};
}

static void acknowledge(struct poster *poster)
{
    __atomic_store_n(poster->cq_doorbell, (poster->consumed & 0xffff) | EMU_CQ_DOORBELL_PROMISE,
                     __ATOMIC_RELEASE);
}

void poster_open(struct poster *poster, struct end *end)
{
    struct wq_attr sq, rq;
    struct cq_attr cq;

    CU_ASSERT_EQUAL_FATAL(efadv_query_cq(ibv_cq_ex_to_cq(end->cq), &cq, sizeof cq), 0);
    CU_ASSERT_EQUAL_FATAL(efadv_query_qp_wqs(end->qp, &sq, &rq, sizeof sq), 0);
    CU_ASSERT_TRUE(sq.max_batch == 16 && cq.entry_size == EMU_CQE_BYTES && rq.entry_size == EMU_RQE_BYTES);
    *poster = (struct poster){.sq = ring_of(&sq),
                              .rq = ring_of(&rq),
                              .cq_words = cq.buffer,
                              .cq_entries = cq.num_entries,
                              .cq_doorbell = cq.doorbell,
                              .end = end};
    acknowledge(poster);
}

struct emu_request poster_write_of(const struct poster *poster, const struct end *to, uint64_t id,
                                   uint32_t len)
{
    struct emu_request request = {.id = id,
                                  .operation = EMU_IO_WRITE,
                                  .pieces = 1,
                                  .dst_qpn = (uint16_t)to->qp->qp_num,
                                  .ahn = (uint16_t)((struct emu_ah *)poster->end->ah)->number,
                                  .qkey = QKEY,
                                  .len = len};

    request.piece[0] = (struct emu_piece){(uintptr_t)poster->end->buf, len, poster->end->mr->lkey};
    request.remote = (struct emu_piece){(uintptr_t)to->buf, len, to->mr->rkey};
    return request;
}

void poster_store_words(struct poster *poster, const uint64_t *words, int missing)
{
    struct poster_ring *sq = &poster->sq;
    uint64_t *at = sq->words + (size_t)(sq->posted++ & (sq->entries - 1)) * sq->entry_words;

    for (uint32_t i = 0; i < sq->entry_words; i++)
        if ((int)i != missing)
            __atomic_store_n(&at[i], words[i], __ATOMIC_RELAXED);
}

void poster_store(struct poster *poster, const struct emu_request *request)
{
    uint64_t words[EMU_WIDE_WQE_WORDS];

    emu_wqe_write(request, poster->sq.posted / poster->sq.entries & 1, words, poster->sq.entry_words);
    poster_store_words(poster, words, -1);
}

void poster_ring(struct poster *poster)
{
    __atomic_store_n(poster->sq.doorbell, poster->sq.posted & 0xffff, __ATOMIC_RELEASE);
}

void poster_receive(struct poster *poster, uint16_t id, uint32_t len)
{
    const struct end *end = poster->end;
    struct emu_buffer buffer = {
        .piece = {(uintptr_t)end->buf, len, end->mr->lkey}, .id = id, .first = true, .last = true};
    struct poster_ring *rq = &poster->rq;

    emu_rqe_write(&buffer, rq->words + (size_t)(rq->posted++ & (rq->entries - 1)) * EMU_RQE_WORDS);
    __atomic_store_n(rq->doorbell, rq->posted & 0xffff, __ATOMIC_RELEASE);
}

uint64_t poster_served(const struct poster *poster)
{
    uint64_t served;

    emu_queues_lock();
    served = ((struct emu_qp *)poster->end->qp)->posted;
    emu_queues_unlock();
    return served;
}

bool poster_poll(struct poster *poster, unsigned ms, struct emu_report *report)
{
    const uint64_t *at =
        poster->cq_words + (size_t)(poster->consumed & (poster->cq_entries - 1)) * EMU_CQE_WORDS;
    uint64_t phase = poster->consumed / poster->cq_entries & 1 ? 0 : EMU_CQE_PHASE,
             stop = emu_now_ns() + ms * 1000000ull;

    while ((__atomic_load_n(at, __ATOMIC_ACQUIRE) & EMU_CQE_PHASE) != phase) {
        if (emu_now_ns() > stop)
            return false;
        sched_yield();
    }
    emu_cqe_read(at, report);
    poster->consumed++;
    if (!poster->silent)
        acknowledge(poster);
    return true;
}

void pair_open(struct pair *pair, const struct wish *wish)
{
    verbs_open(pair->end, wish);
    for (int i = 0; i < 2; i++)
        poster_open(&pair->poster[i], &pair->end[i]);
}

struct emu_report pair_next(struct pair *pair, int side)
{
    struct emu_report report = {.status = 99};

    CU_ASSERT_TRUE_FATAL(poster_poll(&pair->poster[side], WAIT_MS, &report));
    return report;
}

struct emu_request pair_write_of(struct pair *pair, uint64_t id, uint32_t len)
{
    return poster_write_of(&pair->poster[0], &pair->end[1], id, len);
}

void pair_post(struct pair *pair, const struct emu_request *request)
{
    poster_store(&pair->poster[0], request);
    poster_ring(&pair->poster[0]);
}
