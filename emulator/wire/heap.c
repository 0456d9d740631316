/* SPDX-License-Identifier: BSD-3-Clause */
/* The binary heap of due times. */
#include "emulator/wire/heap.h"

#include "emulator/say.h"

#include <stdlib.h>

static bool earlier(const struct emu_segment *a, const struct emu_segment *b)
{
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void heap_grow(struct emu_heap *heap)
{
    size_t room = heap->room ? 2 * heap->room : 1024;
    struct emu_segment *at = realloc(heap->at, room * sizeof *at);

    if (!at) {
        emu_say("no memory for %zu segments in flight", room);
        abort(); /* an operation that was accepted cannot be forgotten */
    }
    heap->at = at;
    heap->room = room;
}

void emu_heap_push(struct emu_heap *heap, struct emu_segment segment)
{
    size_t i;

    if (heap->n == heap->room)
        heap_grow(heap);
    for (i = heap->n++; i; i = (i - 1) / 2) {
        if (!earlier(&segment, &heap->at[(i - 1) / 2]))
            break;
        heap->at[i] = heap->at[(i - 1) / 2];
    }
    heap->at[i] = segment;
}

static void heap_sink(struct emu_heap *heap, size_t i)
{
    struct emu_segment segment = heap->at[i];

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= heap->n)
            break;
        if (child + 1 < heap->n && earlier(&heap->at[child + 1], &heap->at[child]))
            child++;
        if (!earlier(&heap->at[child], &segment))
            break;
        heap->at[i] = heap->at[child];
        i = child;
    }
    heap->at[i] = segment;
}

struct emu_segment emu_heap_pop(struct emu_heap *heap)
{
    struct emu_segment top = heap->at[0];

    heap->at[0] = heap->at[--heap->n];
    if (heap->n)
        heap_sink(heap, 0);
    return top;
}

void emu_heap_drop(struct emu_heap *heap, const struct emu_qp *qp)
{
    size_t kept = 0;

    for (size_t i = 0; i < heap->n; i++) {
        struct emu_op *op = heap->at[i].op;

        if (op->qp != qp) {
            heap->at[kept++] = heap->at[i];
            continue;
        }
        free(heap->at[i].data);
        if (--op->left == 0)
            free(op);
    }
    heap->n = kept;
    for (size_t i = kept / 2; i-- > 0;)
        heap_sink(heap, i);
}
