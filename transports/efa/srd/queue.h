/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of deferred operations: the oldest epoch first. */
#ifndef WSH_SRD_QUEUE_H
#define WSH_SRD_QUEUE_H

#include "base/invariant.h"
#include "transports/efa/srd/flow.h"

static inline void wsh_srd_queue_append(struct wsh_srd_queue *queue, struct wsh_srd_op *op)
{
    op->next = NULL;
    WSH_INVARIANT(!queue->head || queue->tail->epoch <= op->epoch);
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

/* Of the epoch whose writes go now, or of a later one than all in the queue. */
static inline void wsh_srd_queue_insert(struct wsh_srd_queue *queue, struct wsh_srd_op *op)
{
    if (!queue->head || queue->tail->epoch <= op->epoch) {
        wsh_srd_queue_append(queue, op);
        return;
    }
    WSH_INVARIANT(op->epoch <= queue->head->epoch);
    op->next = queue->head;
    queue->head = op;
}

#endif
