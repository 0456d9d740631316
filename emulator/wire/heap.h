/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A priority queue of the segments in flight, the one due next first; those of one due time in the order of posting.
 */
#ifndef EMU_HEAP_H
#define EMU_HEAP_H

#include "emulator/wire/wire.h"

struct emu_heap {
    struct emu_segment *at;
    size_t n, room;
};

void emu_heap_push(struct emu_heap *heap, struct emu_segment segment);
/* heap->n > 0 */
struct emu_segment emu_heap_pop(struct emu_heap *heap);
/* Removes the segments of this queue pair's operations, and frees these. */
void emu_heap_drop(struct emu_heap *heap, const struct emu_qp *qp);

#endif
