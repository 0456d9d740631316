/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion channels. A process that adds a completion to an armed queue rings the bell of its owner, whose service
 * thread puts the queue on its channel's list and counts the event in the channel's eventfd.
 */
#include "emulator/verbs/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The process's queues that have a channel. */
static pthread_mutex_t watched_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct emu_cq *watched[EMU_CQS_MAX];

static struct emu_channel *channel_of(struct emu_cq *cq)
{
    return (struct emu_channel *)cq->ex.channel;
}

void emu_cq_watch(struct emu_cq *cq)
{
    if (!cq->ex.channel)
        return;
    pthread_mutex_lock(&watched_mutex);
    watched[cq->index] = cq;
    ((struct emu_channel *)cq->ex.channel)->ibv.refcnt++;
    pthread_mutex_unlock(&watched_mutex);
}

/* With the channel's mutex: takes the queue out of the list, wherever it is. */
static void cq_unlist(struct emu_channel *channel, struct emu_cq *cq)
{
    struct emu_cq **at = &channel->first;

    while (*at && *at != cq)
        at = &(*at)->next;
    if (*at)
        *at = cq->next;
}

void emu_cq_unwatch(struct emu_cq *cq)
{
    struct emu_channel *channel = channel_of(cq);

    if (!channel)
        return;
    pthread_mutex_lock(&watched_mutex);
    watched[cq->index] = NULL;
    channel->ibv.refcnt--;
    pthread_mutex_lock(&channel->mutex);
    cq_unlist(channel, cq);
    pthread_mutex_unlock(&channel->mutex);
    pthread_mutex_unlock(&watched_mutex);
}

static void add_event(struct emu_cq *cq)
{
    struct emu_channel *channel = channel_of(cq);
    struct emu_cq **at;
    uint64_t one = 1;

    pthread_mutex_lock(&channel->mutex);
    if (!cq->events++) {
        for (at = &channel->first; *at; at = &(*at)->next)
            continue;
        cq->next = NULL;
        *at = cq;
    }
    pthread_mutex_unlock(&channel->mutex);
    if (write(channel->ibv.fd, &one, sizeof one) < 0)
        return; /* full: it is readable anyway */
}

void emu_cq_deliver_events(void)
{
    pthread_mutex_lock(&watched_mutex);
    for (uint32_t i = 0; i < EMU_CQS_MAX; i++)
        if (watched[i] && atomic_exchange_explicit(&watched[i]->shared->fired, 0, memory_order_relaxed))
            add_event(watched[i]);
    pthread_mutex_unlock(&watched_mutex);
}

int emu_cq_arm(struct ibv_cq *ibv, int solicited)
{
    struct emu_cq *cq = (struct emu_cq *)ibv;

    (void)solicited;
    if (!cq->ibv.channel)
        return EINVAL;
    atomic_store_explicit(&cq->shared->armed, 1, memory_order_relaxed);
    /* Orders the arming before the caller's next poll; pairs with the fence of ring_if_armed in wire/deliver.c. */
    atomic_thread_fence(memory_order_seq_cst);
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct emu_channel *channel = calloc(1, sizeof *channel);

    if (!channel)
        return NULL;
    channel->ibv.context = context;
    channel->ibv.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    if (channel->ibv.fd < 0) {
        free(channel);
        return NULL;
    }
    pthread_mutex_init(&channel->mutex, NULL);
    return &channel->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
    if (ibv->refcnt)
        return EBUSY;
    close(ibv->fd);
    free(ibv);
    return 0;
}

/* An event of a queue destroyed meanwhile leaves its count behind: such a read finds the list empty and goes on. */
int ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq, void **cq_context)
{
    struct emu_channel *channel = (struct emu_channel *)ibv;
    struct emu_cq *first = NULL;
    uint64_t one;

    while (!first) {
        if (read(ibv->fd, &one, sizeof one) != sizeof one)
            return -1;
        pthread_mutex_lock(&channel->mutex);
        first = channel->first;
        if (first && --first->events == 0)
            channel->first = first->next;
        pthread_mutex_unlock(&channel->mutex);
    }
    *cq = &first->ibv;
    *cq_context = first->ibv.cq_context;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned events)
{
    cq->comp_events_completed += events;
}
