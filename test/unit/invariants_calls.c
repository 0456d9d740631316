/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls, for invariants.sh, what other tests do not call so. */
#include "runtime/coll/memory/pool.h"
#include "runtime/gpu/proxy/ring.h"
#include "transports/efa/srd/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int pool_gives_back(void)
{
    static char units[4 * 64];
    static uint64_t map[WSH_POOL_WORDS] = {0xf}, seen[WSH_POOL_WORDS];
    struct wsh_pool pool = {units, 64, 4, map, PTHREAD_MUTEX_INITIALIZER};
    int unit;

    wsh_pool_read(&pool, seen);
    unit = wsh_pool_find(&pool, seen, sizeof units, 0);
    if (unit || !wsh_pool_take(&pool, unit, sizeof units))
        return 1;
    wsh_pool_give(&pool, unit, sizeof units);
    return map[0] != 0xf;
}

static int starts(void *arg, struct wsh_srd_op *op)
{
    (void)arg, (void)op;
    return 0;
}

static int sends(void *arg, struct wsh_srd_op *op, struct wsh_srd_stamp *stamp)
{
    (void)arg, (void)op, (void)stamp;
    return 0;
}

static int puts_end(void)
{
    static const struct wsh_srd_io io = {starts, starts, sends, NULL};
    struct wsh_srd_link link = {.msgs_max = 4};
    struct wsh_srd_names named[4];
    struct wsh_srd_ctx ctx = {0};
    struct wsh_srd_flow flow;
    struct wsh_srd_op op = {.segments = 1, .kind = WSH_SRD_PUT};

    wsh_srd_flow_init(&flow, &link, 4, 1, false, named);
    if (!wsh_srd_put_fast(&ctx, &flow) || !wsh_srd_put_fast(&ctx, &flow))
        return 1;
    wsh_srd_put_ended(&ctx, &flow, 1);
    wsh_srd_put_ended(&ctx, &flow, 1);
    for (int i = 0; i < 3; i++) {
        wsh_srd_fence(&ctx);
        if (wsh_srd_submit(&ctx, &flow, &op, &io))
            return 1;
        wsh_srd_op_ended(&ctx, &flow, &op);
    }
    return wsh_srd_flow_pending(&flow) != 0;
}

static struct wsh_ring *ring;
static uint64_t head;
static bool refuses;
static struct wsh_done *flying;

/* In the first lap. */
static void push(enum wsh_ring_kind kind, int pe, uint64_t flags)
{
    struct wsh_ring_piece *piece = &ring->piece[head++];

    piece->a = (uint64_t)kind << WSH_RING_KIND_AT | flags | WSH_RING_PARITY;
    piece->b = (uint64_t)pe << WSH_RING_PE_AT | 8 | WSH_RING_PARITY;
}

static int start(void *arg, const struct wsh_ring_request *request, struct wsh_done *done)
{
    (void)arg;
    if (refuses)
        return -EAGAIN;
    if (request->answer)
        flying = done, done->left = 1;
    return 0;
}

static int fence(void *arg)
{
    (void)arg;
    return 0;
}

static size_t pending(void *arg, bool sources, bool awaited)
{
    (void)arg, (void)sources, (void)awaited;
    return flying && flying->left;
}

static const struct wsh_consumer_ops ops = {start, fence, pending, NULL};

/* `pes` records to each of so many PEs, all refused at first, then a get. */
static int ring_moves(int pes, int each)
{
    struct wsh_consumer *consumer;
    int rc;

    memset(ring, 0, sizeof *ring);
    head = 0;
    flying = NULL;
    refuses = true;
    consumer = wsh_consumer_open(ring, 1, &ops, NULL);
    for (int i = 0; i < pes * each; i++)
        push(WSH_RING_PUT, i / each, 0);
    rc = wsh_consumer_step(consumer) < 0;
    refuses = false;
    for (int i = 0; i < 4; i++)
        rc |= wsh_consumer_step(consumer) < 0;
    push(WSH_RING_GET_WORD, 0, WSH_RING_ANSWER);
    rc |= wsh_consumer_step(consumer) < 0 || !flying;
    if (flying)
        flying->left = 0;
    rc |= wsh_consumer_step(consumer) < 0;
    memset(ring->answer, 0, sizeof ring->answer);
    for (int i = 0; i < 3; i++)
        rc |= wsh_consumer_step(consumer) < 0;
    rc |= ring->freed != head || ring->done != head;
    wsh_consumer_close(consumer);
    return rc;
}

int main(void)
{
    ring = aligned_alloc(128, sizeof *ring);
    return !ring || pool_gives_back() || puts_end() || ring_moves(WSH_ASIDE + 2, 1) || ring_moves(2, 2);
}
