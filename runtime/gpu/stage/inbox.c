/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes arrived messages to waiting kernels, and takes back those that no kernel pulls. While kernels poll the inbox
 * they apply messages; else the GPU's stream does. Never both at once: a message for one of them waits until the other
 * has nothing in flight, which keeps the order of messages.
 */
#include "runtime/gpu/stage/state.h"

#include "base/log.h"

#include <stdlib.h>
#include <time.h>

/* Seconds that a message waits for a kernel to poll; a waiting kernel polls every few microseconds. */
#define POLL_S 30e-6
#define ALONE_S 1e-3  /* Seconds without such a wait after no kernel polled. */
#define STREAM_S 1e-3 /* The stream makes progress if it completed an operation within so many seconds. */
#define PROBE_S 2e-3  /* Seconds after which a kernel copies, if the stream has not completed a probe. */
#ifndef PULL_S        /* a test has slower kernels */
#define PULL_S 100e-6 /* Seconds without a pull after which no kernel waits any more. */
#endif

/*
 * A lane has one access of 16 bytes in flight, which takes a microsecond over PCIe; the stream, while it runs,
 * completes a message every eight microseconds. So longer messages use the stream.
 */
#define SHORT_BYTES 128
/*
 * The same limit per lane, if a full warp waits or the stream would need room on the GPU. Only full warps count: how
 * many lanes wait together in a partial one is chance, and says nothing about the next time.
 */
#define LANE_BYTES 512
#ifndef WARP_LANES /* a test has fewer */
#define WARP_LANES 32
#endif

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Notes whether a kernel has looked since the last call. */
static void note_polls(struct wsh_stage_inbox *in)
{
    uint64_t polls = __atomic_load_n(&in->shared->polls, __ATOMIC_RELAXED);

    if (polls == in->polls)
        return;
    in->polls = polls;
    in->held_since = 0;
    in->alone_until = 0;
    in->awaited = true;
}

/* The stream applies it by a kernel of its own, except for words that are set. */
static bool needs_room(const struct wsh_stage_head *head)
{
    switch (head->kind) {
    case WSH_STAGE_SIGNAL: return head->signal_op != WSH_AMO_SET;
    case WSH_STAGE_AMO: return head->op != WSH_AMO_SET;
    default: return head->kind == WSH_STAGE_FETCH;
    }
}

static bool is_short(const struct wsh_stage_inbox *in, const struct wsh_stage_head *head)
{
    size_t lanes = in->polls & WSH_INBOX_LANES;

    if (lanes == WARP_LANES || needs_room(head))
        return head->len <= LANE_BYTES * (lanes ? lanes : 1);
    return head->len <= SHORT_BYTES;
}

/* Notes whether the stream has completed anything since the last call. */
static void note_landed(struct wsh_stage *stage)
{
    struct wsh_stage_inbox *in = &stage->inbox;

    if (stage->landed == in->landed)
        return;
    in->landed = stage->landed;
    in->landed_at = now_s();
    in->probed_at = 0;
}

static bool stream_progresses(const struct wsh_stage_inbox *in)
{
    return now_s() - in->landed_at < STREAM_S;
}

/* Uses the stream once it has been seen to make progress; else a kernel, slowly. */
static enum wsh_stage_dispatch dispatch_long(struct wsh_stage *stage)
{
    struct wsh_stage_inbox *in = &stage->inbox;

    if (in->handed != in->pulled)
        return WSH_STAGE_HELD;
    note_landed(stage);
    if (!in->awaited || stream_progresses(in)) {
        in->long_issued = stage->issued + 1;
        return WSH_STAGE_BY_STREAM;
    }
    if (stage->landed < stage->in_issued)
        return WSH_STAGE_HELD;
    if (!in->probed_at) {
        in->probed_at = wsh_stage_gpu_probe(stage) ? 0 : now_s();
        return WSH_STAGE_HELD;
    }
    if (now_s() - in->probed_at < PROBE_S)
        return WSH_STAGE_HELD;
    in->probed_at = 0;
    return WSH_STAGE_BY_KERNEL;
}

/* A message behind a long one that the stream is copying uses the stream as well, instead of waiting for it. */
static enum wsh_stage_dispatch dispatch_awaited(const struct wsh_stage *stage,
                                                const struct wsh_stage_head *head)
{
    const struct wsh_stage_inbox *in = &stage->inbox;

    if (stage->landed >= stage->in_issued)
        return WSH_STAGE_BY_KERNEL;
    return stage->landed < in->long_issued && stream_progresses(in) && !needs_room(head) ? WSH_STAGE_BY_STREAM
                                                                                         : WSH_STAGE_HELD;
}

enum wsh_stage_dispatch wsh_stage_inbox_dispatch(struct wsh_stage *stage, const struct wsh_stage_head *head)
{
    struct wsh_stage_inbox *in = &stage->inbox;
    double now;

    if (!in->shared)
        return WSH_STAGE_BY_STREAM;
    if (in->closed)
        return WSH_STAGE_HELD;
    note_polls(in);
    if (!is_short(in, head))
        return dispatch_long(stage);
    if (in->handed != in->pulled)
        return in->handed - in->pulled < WSH_INBOX_ITEMS ? WSH_STAGE_BY_KERNEL : WSH_STAGE_HELD;
    if (in->awaited)
        return dispatch_awaited(stage, head);
    now = now_s();
    if (now < in->alone_until)
        return WSH_STAGE_BY_STREAM;
    if (!in->held_since)
        in->held_since = now;
    if (now - in->held_since < POLL_S)
        return WSH_STAGE_HELD;
    in->held_since = 0;
    in->alone_until = now + ALONE_S;
    return WSH_STAGE_BY_STREAM;
}

static uint64_t on_gpu(const struct wsh_rmem *rmem, uint64_t off)
{
    return (uint64_t)(uintptr_t)((rmem->gpu ? rmem->gpu : rmem->map) + off);
}

static bool is_copy(const struct wsh_stage_head *head)
{
    return head->kind == WSH_STAGE_PUT || head->kind == WSH_STAGE_SIGNAL || head->kind == WSH_STAGE_GET;
}

static void item_fill(struct wsh_inbox_item *item, const struct wsh_stage_head *head,
                      const struct wsh_rmem *to, const struct wsh_rmem *signal, char *payload)
{
    uint64_t there = on_gpu(to, head->off), here = (uint64_t)(uintptr_t)payload;

    *item = (struct wsh_inbox_item){.operand = head->value, .compare = head->compare};
    if (is_copy(head)) {
        item->to = head->kind == WSH_STAGE_GET ? here : there;
        item->from = head->kind == WSH_STAGE_GET ? there : here;
        item->len = head->len;
        item->fenced = head->fenced;
    }
    if (head->kind == WSH_STAGE_SIGNAL) {
        item->word = on_gpu(signal, head->signal_off);
        item->op = head->signal_op;
        item->width = 8;
    } else if (!is_copy(head)) {
        item->word = there;
        item->op = head->op;
        item->width = head->width;
        item->old = head->kind == WSH_STAGE_FETCH ? here : 0;
    }
}

void wsh_stage_inbox_queue(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                           const struct wsh_stage_head *head, const struct wsh_rmem *to,
                           const struct wsh_rmem *signal, char *payload)
{
    struct wsh_stage_inbox *in = &stage->inbox;
    size_t slot = in->handed % WSH_INBOX_ITEMS;

    item_fill(&in->shared->item[slot], head, to, signal, payload);
    in->from[slot] = (struct wsh_stage_handed){peer, peer->taken};
    if (in->handed == in->pulled)
        in->since = 0;
    in->awaited = false;
    wsh_order_leaves();
    __atomic_store_n(&in->shared->head, ++in->handed, __ATOMIC_RELEASE); /* partner: wsh_dev_pull_begin */
}

/* Sequentially consistent, as the look at `state` behind it: partner: wsh_ptx_fence_sc between the GPU's. */
static void close_head(struct wsh_stage_inbox *in)
{
    __atomic_store_n(&in->shared->head, in->handed | WSH_INBOX_CLOSED, __ATOMIC_SEQ_CST);
    in->closed = true;
    in->back = 0;
}

/* Passes items that no kernel pulled to the stream. 1: all of them; 0: it has no room. */
static int take_back_items(struct wsh_stage *stage, wsh_stage_apply_fn *apply)
{
    struct wsh_stage_inbox *in = &stage->inbox;

    if (in->back < in->pulled)
        in->back = in->pulled;
    for (; in->back != in->handed; in->back++) {
        const struct wsh_stage_handed *from = &in->from[in->back % WSH_INBOX_ITEMS];
        int rc = apply(stage, from->peer, from->pos);

        if (rc)
            return rc == -EAGAIN ? 0 : rc;
        in->taken_back++;
    }
    in->handed = in->pulled;
    in->closed = false;
    in->alone_until = now_s() + ALONE_S;
    __atomic_store_n(&in->shared->head, in->handed, __ATOMIC_RELEASE);
    return 1;
}

static bool is_given_up(struct wsh_stage_inbox *in)
{
    double now = now_s();

    if (!in->since)
        in->since = now;
    return now - in->since > PULL_S;
}

/* More than there was, or less than before. */
static int damage_say(const struct wsh_stage_inbox *in, uint64_t pulled)
{
    wsh_error("the inbox of this PE's GPU is damaged (%llu messages applied, of %llu): a kernel of the "
              "program may have "
              "written where it must not; try compute-sanitizer",
              (unsigned long long)pulled, (unsigned long long)in->handed);
    return -EPROTO;
}

int wsh_stage_inbox_progress(struct wsh_stage *stage, wsh_stage_apply_fn *apply)
{
    struct wsh_stage_inbox *in = &stage->inbox;
    uint64_t state, pulled;
    int moved = 0;

    note_landed(stage);
    if (in->handed == in->pulled)
        return 0;
    /* What was fetched is here. Partner: the release of wsh_dev_pull_end. */
    state = __atomic_load_n(&in->shared->state, __ATOMIC_SEQ_CST);
    pulled = state / 2;
    if (pulled - in->pulled > in->handed - in->pulled)
        return damage_say(in, pulled);
    if (pulled != in->pulled) {
        wsh_order_returns();
        in->pulled = pulled;
        in->since = 0;
        note_polls(in);
        in->awaited = false; /* that was to pull; whoever still waits looks again */
        moved = 1;
    }
    if (in->closed)
        return state & WSH_INBOX_BUSY ? moved : take_back_items(stage, apply);
    if (in->handed != pulled && !(state & WSH_INBOX_BUSY) && is_given_up(in))
        close_head(in);
    return moved;
}

void wsh_stage_inbox_say(const struct wsh_stage *stage)
{
    const struct wsh_stage_inbox *in = &stage->inbox;

    if (in->handed || in->taken_back)
        wsh_info(WSH_SUB_TRANSPORT,
                 "stage: of the messages that came %llu were applied by waiting kernels, %llu by copies; "
                 "%llu of these had been handed to kernels that did not apply them",
                 (unsigned long long)in->pulled, (unsigned long long)stage->in_applied,
                 (unsigned long long)in->taken_back);
}
