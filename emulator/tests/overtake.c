/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overtake FABRIC CLAIM [TRIES]: what an unordered network does to a write of data and a write of its flag.
 *   overtaken   the flag is seen before the data in at least 5 % of the tries; half have one segment, half several
 *   waited      never, when the flag is written after the data's delivery was reported
 *   segments    the segments of one write land in another order than they lie in memory
 *   immediate   the immediate data of a write are seen after all of its segments
 *   ordered     never, without any wait: for a network that was asked to keep the order
 * Both processes look at what has landed after each of their polls, so that a busy machine hides little.
 */
#include "emulator/tests/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 32
#define SLOT_LEN ((size_t)32768)
#define STEP ((size_t)2048) /* distance of the words that are looked at; no segment is smaller */
#define SHORT_LEN ((size_t)2048)
#define FLAGS (SLOTS * SLOT_LEN)
#define PERCENT 5

enum claim { OVERTAKEN, WAITED, SEGMENTS, IMMEDIATE, ORDERED };

static const char *const claims[] = {"overtaken", "waited", "segments", "immediate", "ordered"};
static enum claim claim;

/* Words that the processes share: rounds that the target is done with, and the slots where it saw the claim's event. */
enum { ACKNOWLEDGED, SEEN_BY_TARGET };

/* What one process has seen of a round, a bit for each slot. */
struct view {
    uint64_t stamp; /* the round's; every word that lands is one */
    uint32_t ended; /* flag, immediate data or last segment was seen */
    uint32_t violated;
};

static long tries, tried[2], violated[2]; /* of the source; short, long */

/* Data of one segment in the even slots, of several in the odd ones. */
static bool is_long(int slot)
{
    return slot % 2 || claim == SEGMENTS;
}

static size_t len_of(int slot)
{
    return is_long(slot) ? SLOT_LEN : SHORT_LEN;
}

/* Acquire: whoever delivers wrote earlier bytes before later ones, unless it delivered them in another order. */
static uint64_t look(const char *heap, size_t offset)
{
    return atomic_load_explicit((const _Atomic uint64_t *)(const void *)(heap + offset),
                                memory_order_acquire);
}

static bool is_there(const char *heap, int slot, uint64_t stamp)
{
    for (size_t at = len_of(slot); at; at -= STEP)
        if (look(heap, (size_t)slot * SLOT_LEN + at - STEP) != stamp)
            return false;
    return true;
}

/* From the last word to the first: one seen missing after a later one was seen landed after it. */
static bool is_disordered(const char *heap, int slot, uint64_t stamp)
{
    bool later = false;

    for (size_t at = len_of(slot); at; at -= STEP) {
        bool there = look(heap, (size_t)slot * SLOT_LEN + at - STEP) == stamp;

        if (later && !there)
            return true;
        later = later || there;
    }
    return false;
}

/* Looks at one slot of the target's memory; `immediate`: its immediate data have just come. */
static void look_at(const char *heap, int slot, bool immediate, struct view *view)
{
    bool ended, bad;

    if (claim == SEGMENTS) {
        bad = is_disordered(heap, slot, view->stamp);
        ended = is_there(heap, slot, view->stamp);
    } else {
        ended = claim == IMMEDIATE ? immediate : look(heap, FLAGS + (size_t)slot * 8) == view->stamp;
        bad = ended && !is_there(heap, slot, view->stamp);
    }
    view->ended |= (uint32_t)ended << slot;
    view->violated |= (uint32_t)bad << slot;
}

static void look_at_all(const char *heap, int immediate, struct view *view)
{
    for (int slot = 0; slot < SLOTS; slot++)
        if (!(view->ended >> slot & 1))
            look_at(heap, slot, slot == immediate, view);
}

/* --- the source --- */

static void take(struct net *net, long *left, struct view *view)
{
    struct net_done done;

    while (net_poll(net, &done)) { /* down to the poll that finds nothing: there time moves on */
        if (done.err)
            net_fail(net, "a write ended with error %d, provider's %d: %s", done.err, done.prov_errno,
                     done.text);
        *left -= 1;
    }
    if (claim != IMMEDIATE)
        look_at_all(net->shared->proc[1].heap, -1, view);
    net_check_time(net, "the ends of writes");
}

static void write_one(struct net *net, size_t offset, size_t len, uint64_t data, long *left,
                      struct view *view)
{
    uint64_t flags = FI_DELIVERY_COMPLETE | (claim == IMMEDIATE ? FI_REMOTE_CQ_DATA : 0);

    while (!net_write(net, 1, offset, offset, len, flags, data, &net->op[*left % NET_OPS]))
        take(net, left, view);
    *left += 1;
}

static void write_slot(struct net *net, int slot, long *left, struct view *view)
{
    write_one(net, (size_t)slot * SLOT_LEN, len_of(slot), (uint64_t)slot, left, view);
    while (claim == WAITED && *left)
        take(net, left, view);
    if (claim != SEGMENTS && claim != IMMEDIATE)
        write_one(net, FLAGS + (size_t)slot * 8, 8, 0, left, view);
    take(net, left, view);
}

static void count(uint32_t bits)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        tried[is_long(slot)]++;
        violated[is_long(slot)] += bits >> slot & 1;
    }
}

static void send_round(struct net *net, uint64_t stamp)
{
    struct view view = {.stamp = stamp};
    uint64_t *words = (void *)net->heap;
    long left = 0;

    for (size_t at = 0; at < (FLAGS + SLOTS * 8) / 8; at++)
        words[at] = stamp;
    for (int slot = 0; slot < SLOTS; slot++)
        write_slot(net, slot, &left, &view);
    while (left || atomic_load_explicit(&net->shared->word[ACKNOWLEDGED], memory_order_acquire) < stamp)
        take(net, &left, &view);
    count(view.violated |
          (uint32_t)atomic_load_explicit(&net->shared->word[SEEN_BY_TARGET], memory_order_relaxed));
}

/* --- the target --- */

/* The slot whose immediate data came, or -1. Serves the source. */
static int next_immediate(struct net *net)
{
    struct net_done done;

    if (!net_poll(net, &done))
        return -1;
    if (done.err)
        net_fail(net, "an error at the target: %d, provider's %d: %s", done.err, done.prov_errno, done.text);
    if (!(done.flags & FI_REMOTE_CQ_DATA) || done.data >= SLOTS)
        net_fail(net, "an unexpected completion: flags %lx, data %lx", (unsigned long)done.flags,
                 (unsigned long)done.data);
    return (int)done.data;
}

static void receive_round(struct net *net, uint64_t stamp)
{
    struct view view = {.stamp = stamp};

    while (view.ended != UINT32_MAX) {
        look_at_all(net->heap, next_immediate(net), &view);
        net_check_time(net, "flags");
    }
    for (int slot = 0; slot < SLOTS; slot++)
        while (!is_there(net->heap, slot, stamp)) {
            next_immediate(net);
            net_check_time(net, "data");
        }
    atomic_store_explicit(&net->shared->word[SEEN_BY_TARGET], view.violated, memory_order_relaxed);
    atomic_store_explicit(&net->shared->word[ACKNOWLEDGED], stamp,
                          memory_order_release); /* with send_round */
}

/* --- the judgement --- */

static bool is_shown(void)
{
    switch (claim) {
    case OVERTAKEN:
        return violated[0] && violated[1] &&
               (violated[0] + violated[1]) * 100 >= (tried[0] + tried[1]) * PERCENT;
    case SEGMENTS: return violated[1];
    default: return !violated[0] && !violated[1];
    }
}

static int judge(const struct net *net)
{
    printf("libfabric %u.%u %s, %s: %ld of %ld writes of %zu bytes and %ld of %ld of %zu bytes %s\n",
           FI_MAJOR(fi_version()), FI_MINOR(fi_version()), net->info->fabric_attr->name, claims[claim],
           violated[0], tried[0], SHORT_LEN, violated[1], tried[1], SLOT_LEN,
           claim == SEGMENTS ? "with segments out of order" : "overtaken");
    fflush(stdout);
    return is_shown() ? NET_PASSED : NET_FAILED;
}

static int body(struct net *net)
{
    int status = NET_PASSED;

    net_join(net);
    for (uint64_t stamp = 1; (long)(stamp - 1) * SLOTS < tries; stamp++) {
        if (net->me)
            receive_round(net, stamp);
        else
            send_round(net, stamp);
    }
    if (!net->me)
        status = judge(net);
    net_leave(net);
    return status;
}

int main(int argc, char **argv)
{
    struct net_options options = {.n_procs = 2, .heap_len = FLAGS + 4096, .seconds = 100};
    size_t at = 0;

    while (argc > 2 && at < sizeof claims / sizeof claims[0] && strcmp(claims[at], argv[2]))
        at++;
    tries = argc > 3 ? atol(argv[3]) : 10000;
    if (argc < 3 || at == sizeof claims / sizeof claims[0] || tries < 1) {
        fprintf(stderr, "use: overtake FABRIC overtaken|waited|segments|immediate|ordered [TRIES]\n");
        return 2;
    }
    claim = (enum claim)at;
    options.fabric = argv[1];
    return net_run(&options, body);
}
