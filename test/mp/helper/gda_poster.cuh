/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of the CPU that writes requests into the queues of NICs, by the rules of device/nic/gda.h, in place of a
 * kernel. Included once, by a program that has included <shmemx.h>, device/nic/gda.h and device/view/view.h, in C++.
 */
#ifndef WSH_TEST_GDA_POSTER_CUH
#define WSH_TEST_GDA_POSTER_CUH

#include "test/fake_cuda/fake.h"

#include <sched.h>

static struct wsh_gda *gda; /* as the GPU sees it */

static uint64_t acquired(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static struct wsh_gda_marks *marks_of(const struct wsh_gda_queue *queue)
{
    return (struct wsh_gda_marks *)queue->marks;
}

static const void *device_memory(uint64_t at)
{
    return fake_alias((const void *)at);
}

static void poster_open(const struct wsh_device *state)
{
    gda = (struct wsh_gda *)device_memory(state->ring_heads + sizeof(struct wsh_ring_heads));
}

/* Fields that a test gets wrong on purpose. */
struct poster_mistake {
    uint32_t remote_key;
};

/* Stores one request, both of whose ends lie in the host heap; nobody else posts to this queue. */
static void poster_store(const struct wsh_device *state, struct wsh_gda_queue *queue, uint64_t operation,
                         int pe, const void *there, const void *here, uint32_t len,
                         struct poster_mistake mistake)
{
    const auto *peer = (const struct wsh_gda_peer *)device_memory(queue->peers) + pe;
    const auto *target = &peer->target;
    uint64_t number = queue->reserved++, id = number | (uint64_t)pe << WSH_GDA_PE_AT;
    volatile uint64_t *words = (uint64_t *)queue->ring + number % queue->entries * queue->entry_words;

    while (number - acquired(&marks_of(queue)->completed) >= queue->entries)
        sched_yield();
    words[0] = (id & 0xffff) | operation << WSH_GDA_OPERATION_AT | WSH_GDA_META |
               (number / queue->entries & 1) << WSH_GDA_PHASE_AT | WSH_GDA_FIRST | WSH_GDA_LAST |
               WSH_GDA_COMPLETION | (uint64_t)target->qpn << WSH_GDA_QPN_AT |
               (uint64_t)1 << WSH_GDA_PIECES_AT;
    words[1] = (uint64_t)target->ah << WSH_GDA_AH_AT;
    words[2] = target->qkey;
    words[3] = id >> 16 << 16;
    words[4] = len | (uint64_t)(peer->key[WSH_DEVICE_SEG_HEAP] ^ mistake.remote_key) << WSH_GDA_KEY_AT;
    words[5] = peer->base[WSH_DEVICE_SEG_HEAP] + ((uint64_t)there - state->seg[WSH_DEVICE_SEG_HEAP].base);
    words[6] = len | (uint64_t)queue->key[WSH_DEVICE_SEG_HEAP] << WSH_GDA_KEY_AT;
    words[7] = (uint64_t)here;
}

static void poster_ring(struct wsh_gda_queue *queue)
{
    __atomic_store_n(&marks_of(queue)->posted, queue->reserved, __ATOMIC_RELAXED);
    __atomic_store_n((uint32_t *)queue->doorbell, (uint32_t)queue->reserved, __ATOMIC_RELEASE);
    queue->rung = queue->reserved;
}

/* `n` blocks of `len` bytes, in turn over `queues` of them, with as few doorbells as may be. */
static void poster_move(const struct wsh_device *state, uint64_t operation, unsigned char *there,
                        unsigned char *here, uint32_t len, unsigned n, int pe, unsigned queues)
{
    for (unsigned i = 0; i < n; i++) {
        struct wsh_gda_queue *queue = &gda->queue[i / 16 % queues];

        poster_store(state, queue, operation, pe, there + i * len, here + i * len, len, {});
        if (queue->reserved - queue->rung == queue->max_batch || i % 16 == 15)
            poster_ring(queue);
    }
    for (unsigned i = 0; i < queues; i++)
        if (gda->queue[i].rung != gda->queue[i].reserved)
            poster_ring(&gda->queue[i]);
}

static void poster_await(unsigned queues)
{
    for (unsigned i = 0; i < queues; i++)
        while (acquired(&marks_of(&gda->queue[i])->mark) < gda->queue[i].reserved)
            sched_yield();
}

#endif
