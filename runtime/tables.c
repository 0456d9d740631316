/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the tables by PE and piece of memory, from the structs and rules by which they are made. */
#include "runtime/tables.h"

#include "runtime/gpu/view_state.h"
#include "runtime/heap.h"
#include "runtime/route.h"

/* As many rows as a table by segment has that has grown segment by segment. */
static size_t keys_room(size_t n_segs)
{
    uint32_t n = 0;

    for (uint32_t seg = 0; seg < n_segs; seg++)
        if (seg >= n)
            n = wsh_seg_room(n, seg);
    return n;
}

size_t wsh_tables_device(const struct wsh_tables_shape *shape)
{
    return wsh_view_size((int)shape->n_pes, (int)shape->n_local);
}

size_t wsh_tables_host(const struct wsh_tables_shape *shape)
{
    size_t segs = WSH_SEG_MORE + shape->n_buffers;
    size_t routes = segs * shape->n_pes * (WSH_ENTRIES * sizeof(struct wsh_rmem) + sizeof(uint8_t));
    size_t keys = keys_room(segs) * shape->n_pes * shape->n_rails * sizeof(uint64_t);

    return sizeof(struct wsh_routes) + sizeof(struct wsh_heap) + routes + keys + wsh_tables_device(shape);
}
