/* SPDX-License-Identifier: BSD-3-Clause */
/* LL lines (cells): small data beside its flag, written once by its owner, read by all members that share memory. */
#ifndef WSH_COLL_CELLS_H
#define WSH_COLL_CELLS_H

#include "base/atomic.h"
#include "runtime/coll/choose/state.h"

#include <string.h>

/* An epoch of cells: all members begin it together. */
struct wsh_cells {
    struct wsh_team *team;
    const char *routine;
    uint64_t before; /* slots used before it */
};

struct wsh_cells wsh_cells_begin(struct wsh_team *team, const char *routine);
/* All members have entered the call. */
void wsh_cells_end(const struct wsh_cells *cells);

/* All members of my host have entered: an epoch without data. Not for members that share no memory. */
int wsh_cells_sync(struct wsh_team *team, const char *routine);

enum wsh_cell_kind { WSH_CELL_OWN, WSH_CELL_RESULT };

void wsh_cells_write(const struct wsh_cells *cells, enum wsh_cell_kind kind, const void *data, size_t len);
/*
 * Waits for the cells of these members: all of my domain, or one. Where their data is in each member's pad.
 * wsh_cells_data: at this member.
 */
int wsh_cells_await(const struct wsh_cells *cells, enum wsh_cell_kind kind, const int *members, int n);
size_t wsh_cells_place(const struct wsh_cells *cells, enum wsh_cell_kind kind);
const void *wsh_cells_data(const struct wsh_cells *cells, enum wsh_cell_kind kind, int member);

/* Most often a piece of data is one word: no call then. */
static inline void wsh_cells_copy(void *dest, const void *src, size_t len)
{
    if (wsh_likely(len == sizeof(uint64_t)))
        memcpy(dest, src, sizeof(uint64_t));
    else
        memcpy(dest, src, len);
}

/*
 * Lines of an exchange, each with a flag: line i of mine is filled, then shown; that of these members is awaited, then
 * read, at the same place of their pads. WSH_LINE_DATA bytes.
 */
size_t wsh_cells_line(const struct wsh_cells *cells, int i); /* its data, in each member's pad */
void wsh_cells_line_show(const struct wsh_cells *cells, int i);
int wsh_cells_line_await(const struct wsh_cells *cells, int i, const int *members, int n);

/* A round with another leader: my data to its cell of that round; its data in mine. */
int wsh_cells_send(const struct wsh_cells *cells, int round, const void *data, size_t len, int member);
int wsh_cells_take(const struct wsh_cells *cells, int round, int member, const void **data);

#endif
