/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a completion of a request that a kernel posted takes of the thread that watches: reading it from the NIC's
 * completion queue, noting it, and publishing the marks, 16 at a time as a doorbell's requests come, in order and out
 * of it. The queues are in this processor's memory, and the same thread plays the NIC before each turn: reading what a
 * NIC has just written takes longer. Prints one line; with --check exit status 1 beyond the goal.
 */
#include "transports/efa/gda/cq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUES = 8, ENTRIES = 4096, BYTES = 32, RUN = 16, TURNS = 200, GOAL_NS = 30 };

struct queue {
    struct wsh_efa_cq cq;
    struct wsh_efa_window window;
    unsigned char *memory;
    uint64_t completed, mark;
};

static double now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* One entry: success, of a write in the send queue. */
static void nic_write(struct queue *queue, uint64_t at, uint64_t id)
{
    uint16_t part[8] = {(uint16_t)id};
    unsigned kind = 2u << 4 | 1u << 1 | !(at / ENTRIES & 1);

    part[1] = (uint16_t)(kind << 8);
    part[3] = (uint16_t)(id >> 16);
    part[4] = (uint16_t)(id >> 32);
    memcpy(queue->memory + at % ENTRIES * BYTES, part, sizeof part);
}

/* A turn of the ring, whose requests change places within `mix` of them. */
static void nic_turn(struct queue *queue, unsigned turn, unsigned mix)
{
    uint64_t first = (uint64_t)turn * ENTRIES, state = turn * 2654435761u + 88172645463325252u;
    static uint64_t ids[ENTRIES];

    for (unsigned i = 0; i < ENTRIES; i++)
        ids[i] = first + i;
    for (unsigned i = 0; i + mix <= ENTRIES && mix > 1; i++) {
        uint64_t other, mine = ids[i];

        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        other = i + state % mix;
        ids[i] = ids[other], ids[other] = mine;
    }
    for (unsigned i = 0; i < ENTRIES; i++)
        nic_write(queue, first + i, ids[i]);
}

static double drain_turn(struct queue *queues)
{
    struct wsh_efa_completion bad;
    double begin = now_ns();

    for (unsigned taken = 0; taken < ENTRIES; taken += RUN)
        for (unsigned i = 0; i < QUEUES; i++) {
            struct queue *queue = &queues[i];

            if (wsh_efa_cq_drain(&queue->cq, &queue->window, RUN, &bad) != RUN)
                exit(1);
            __atomic_store_n(&queue->completed, queue->window.count,
                             __ATOMIC_RELEASE);                                   /* partner: a kernel */
            __atomic_store_n(&queue->mark, queue->window.mark, __ATOMIC_RELEASE); /* partner: a kernel */
        }
    return (now_ns() - begin) / ENTRIES / QUEUES;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of the turns. */
static double measure(struct queue *queues, unsigned first, unsigned mix)
{
    double each[TURNS];

    for (unsigned turn = 0; turn < TURNS; turn++) {
        for (unsigned i = 0; i < QUEUES; i++)
            nic_turn(&queues[i], first + turn, mix);
        each[turn] = drain_turn(queues);
    }
    qsort(each, TURNS, sizeof *each, compare);
    return each[TURNS / 2];
}

int main(int argc, char **argv)
{
    static struct queue queues[QUEUES];
    bool checks = argc == 2 && !strcmp(argv[1], "--check");
    double ordered, mixed;

    if (argc > 1 && !checks) {
        fprintf(stderr, "usage: watcher [--check]\n");
        return 2;
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        queues[i].memory = calloc(ENTRIES, BYTES);
        if (!queues[i].memory || wsh_efa_window_open(&queues[i].window, ENTRIES))
            return 1;
        queues[i].cq = (struct wsh_efa_cq){queues[i].memory, BYTES, ENTRIES, 0};
    }
    ordered = measure(queues, 0, 1);
    mixed = measure(queues, TURNS, 64);
    printf("watcher: %.1f ns a completion in order, %.1f ns out of order (64), %u queues of %u, published "
           "every %u; "
           "goal: %u ns\n",
           ordered, mixed, QUEUES, ENTRIES, RUN, GOAL_NS);
    for (unsigned i = 0; i < QUEUES; i++) {
        wsh_efa_window_close(&queues[i].window);
        free(queues[i].memory);
    }
    return checks && (ordered > GOAL_NS || mixed > GOAL_NS);
}
