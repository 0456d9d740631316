/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes, awaits and reads the cells of an epoch. */
#include "runtime/coll/memory/cells.h"

#include "runtime/coll/memory/flags.h"

static size_t cell_offset(const struct wsh_coll *coll, enum wsh_cell_kind kind)
{
    return (kind == WSH_CELL_OWN ? coll->pad.own : coll->pad.result) + (coll->cells & 1) * WSH_CELL_LEN;
}

static size_t round_offset(const struct wsh_coll *coll, int round)
{
    return coll->pad.rounds +
           ((coll->cells & 1) * (size_t)coll->pad.n_rounds + (size_t)round) * WSH_ROUND_LEN;
}

struct wsh_cells wsh_cells_begin(struct wsh_team *team, const char *routine)
{
    team->coll->cells++;
    return (struct wsh_cells){team, routine, team->coll->slots};
}

void wsh_cells_end(const struct wsh_cells *cells)
{
    wsh_coll_all_entered(cells->team->coll, cells->before);
}

void wsh_cells_write(const struct wsh_cells *cells, enum wsh_cell_kind kind, const void *data, size_t len)
{
    struct wsh_coll *coll = cells->team->coll;
    struct wsh_cell *cell = (struct wsh_cell *)(coll->base + cell_offset(coll, kind));

    wsh_cells_copy(cell->data, data, len);
    /* Release: the data before the flag. Partner: the acquire in flags.c. */
    __atomic_store_n(&cell->flag, coll->cells, __ATOMIC_RELEASE);
}

/*
 * Each member begins with its successor: a line serves its readers one after the other, but all lines serve at the same
 * time.
 */
static int place_first(const struct wsh_coll *coll, int n)
{
    return n > 1 ? coll->my_local : 0;
}

int wsh_cells_await(const struct wsh_cells *cells, enum wsh_cell_kind kind, const int *members, int n)
{
    const struct wsh_coll *coll = cells->team->coll;
    struct wsh_flags flags = {.team = cells->team,
                              .members = members,
                              .n = n,
                              .next = place_first(coll, n),
                              .off = cell_offset(coll, kind),
                              .mapped = true,
                              .want = coll->cells};

    return wsh_flags_await(&flags, cells->routine);
}

size_t wsh_cells_place(const struct wsh_cells *cells, enum wsh_cell_kind kind)
{
    return cell_offset(cells->team->coll, kind) + offsetof(struct wsh_cell, data);
}

const void *wsh_cells_data(const struct wsh_cells *cells, enum wsh_cell_kind kind, int member)
{
    return cells->team->coll->peer[member] + wsh_cells_place(cells, kind);
}

static size_t line_offset(const struct wsh_coll *coll, int i)
{
    return coll->pad.lines + ((coll->cells & 1) * (size_t)coll->pad.n_lines + (size_t)i) * WSH_PAD_LINE;
}

size_t wsh_cells_line(const struct wsh_cells *cells, int i)
{
    return line_offset(cells->team->coll, i) + sizeof(uint64_t);
}

void wsh_cells_line_show(const struct wsh_cells *cells, int i)
{
    struct wsh_coll *coll = cells->team->coll;

    /* Release: the data before the flag. Partner: the acquire in flags.c. */
    __atomic_store_n((uint64_t *)(coll->base + line_offset(coll, i)), coll->cells, __ATOMIC_RELEASE);
}

int wsh_cells_line_await(const struct wsh_cells *cells, int i, const int *members, int n)
{
    const struct wsh_coll *coll = cells->team->coll;
    struct wsh_flags flags = {.team = cells->team,
                              .members = members,
                              .n = n,
                              .next = place_first(coll, n),
                              .off = line_offset(coll, i),
                              .mapped = true,
                              .want = coll->cells};

    return wsh_flags_await(&flags, cells->routine);
}

int wsh_cells_send(const struct wsh_cells *cells, int round, const void *data, size_t len, int member)
{
    struct wsh_coll *coll = cells->team->coll;
    size_t at = round_offset(coll, round);
    const struct wsh_signal signal = wsh_coll_word(coll, at, coll->cells);

    return wsh_put_signal(&coll->ctx, ((struct wsh_cell *)(coll->base + at))->data, data, len, &signal,
                          member);
}

int wsh_cells_take(const struct wsh_cells *cells, int round, int member, const void **data)
{
    const struct wsh_coll *coll = cells->team->coll;
    size_t at = round_offset(coll, round);

    *data = ((const struct wsh_cell *)(coll->base + at))->data;
    return wsh_flag_await(cells->team, member, at, coll->cells, cells->routine);
}

int wsh_cells_sync(struct wsh_team *team, const char *routine)
{
    struct wsh_cells cells = wsh_cells_begin(team, routine);

    wsh_cells_write(&cells, WSH_CELL_OWN, "", 0);
    return wsh_cells_await(&cells, WSH_CELL_OWN, team->coll->local, team->coll->n_local);
}
