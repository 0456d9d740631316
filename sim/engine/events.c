/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap of four children a node. */
#include "sim/engine/events.h"

#include <stdlib.h>

static struct {
    struct sim_event *at;
    size_t n, room;
    uint64_t order;
} heap;

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void grow(void)
{
    heap.room = heap.room ? 2 * heap.room : 4096;
    heap.at = realloc(heap.at, heap.room * sizeof *heap.at);
    if (!heap.at)
        abort();
}

void sim_events_add(sim_time at, enum sim_event_kind kind, void *what)
{
    const struct sim_event event = {at, heap.order++, what, kind};
    size_t i;

    if (heap.n == heap.room)
        grow();
    for (i = heap.n++; i && is_before(&event, &heap.at[(i - 1) / 4]); i = (i - 1) / 4)
        heap.at[i] = heap.at[(i - 1) / 4];
    heap.at[i] = event;
}

static size_t first_child(size_t i)
{
    size_t best = 4 * i + 1, end = best + 4 < heap.n ? best + 4 : heap.n;

    for (size_t k = best + 1; k < end; k++)
        if (is_before(&heap.at[k], &heap.at[best]))
            best = k;
    return best;
}

bool sim_events_take(struct sim_event *event)
{
    struct sim_event last;
    size_t i = 0;

    if (!heap.n)
        return false;
    *event = heap.at[0];
    last = heap.at[--heap.n];
    while (4 * i + 1 < heap.n) {
        size_t child = first_child(i);

        if (!is_before(&heap.at[child], &last))
            break;
        heap.at[i] = heap.at[child];
        i = child;
    }
    heap.at[i] = last;
    return true;
}

sim_time sim_events_next(void)
{
    return heap.n ? heap.at[0].at : UINT64_MAX;
}

void sim_events_clear(void)
{
    free(heap.at);
    heap.at = NULL;
    heap.n = heap.room = 0;
    heap.order = 0;
}
