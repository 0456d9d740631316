/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of deferred operations: the oldest epoch first. */
#ifndef WSH_SRD_QUEUE_H
#define WSH_SRD_QUEUE_H

#include "transports/efa/srd/flow.h"

static inline void wsh_srd_queue_append(struct wsh_srd_queue *queue, struct wsh_srd_op *op)
{
    op->next = NULL;
    if (queue->head)
        queue->tail->next = op;
    else
        queue->head = op;
    queue->tail = op;
}

static inline void wsh_srd_queue_pop(struct wsh_srd_queue *queue)
{
    queue->head = queue->head->next;
}

/* Nothing in the queue is older than `op`: it is of the epoch whose writes go now. */
static inline void wsh_srd_queue_insert(struct wsh_srd_queue *queue, struct wsh_srd_op *op)
{
    if (!queue->head || queue->tail->epoch <= op->epoch) {
        wsh_srd_queue_append(queue, op);
        return;
    }
    op->next = queue->head;
    queue->head = op;
}

#endif
