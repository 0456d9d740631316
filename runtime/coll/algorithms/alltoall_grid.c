/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two steps, with 2 * sqrt(n) messages per member instead of n. First, the blocks that a member of my row has for a
 * column go to the row's member in that column, through its dest, which has room for as many blocks as arrive. A sync
 * then allows the second step to write there: by then all members have copied what arrived in the first.
 */
#include "runtime/coll/algorithms/alltoall_grid.h"

#include "base/log.h"
#include "runtime/coll/memory/blocks.h"
#include "runtime/op/order.h"

#include <stdlib.h>
#include <string.h>

#define ROUTINE "shmem_alltoall"

struct grid {
    struct wsh_team *team;
    int across, down; /* members of a row, of a column */
    int row, column;  /* mine */
    size_t len;
    char *dest;
    const char *src;
    char *area;         /* [across][down] blocks: from each member of my row for each of my column */
    char *first, *last; /* [n_pes] blocks that go out in each step */
    int *below;         /* [down] the members of my column */
};

static int grid_open(struct grid *grid, int n_pes)
{
    size_t all = (size_t)n_pes * grid->len;

    grid->area = malloc(3 * all + (size_t)grid->down * sizeof *grid->below);
    if (!grid->area) {
        wsh_error("shmem_alltoall: no memory for three times the blocks of all PEs (%zu bytes each time); "
                  "free some or "
                  "exchange smaller blocks",
                  all);
        return -ENOMEM;
    }
    grid->first = grid->area + all;
    grid->last = grid->first + all;
    grid->below = (int *)(grid->last + all);
    for (int row = 0; row < grid->down; row++)
        grid->below[row] = row * grid->across + grid->column;
    return 0;
}

/* My blocks for the members of a column. */
static void column_pack(const struct grid *grid, int column, char *to)
{
    for (int row = 0; row < grid->down; row++)
        memcpy(to + (size_t)row * grid->len, grid->src + (size_t)(row * grid->across + column) * grid->len,
               grid->len);
}

static int rows_exchange(const struct grid *grid)
{
    const struct wsh_blocks blocks = wsh_blocks_begin(grid->team, ROUTINE);
    size_t part = (size_t)grid->down * grid->len;
    int begin = grid->row * grid->across, rc = 0;

    for (int k = 1; k < grid->across && !rc; k++) {
        int column = (grid->column + k) % grid->across;
        char *out = grid->first + (size_t)column * part;

        column_pack(grid, column, out);
        rc = wsh_blocks_send(&blocks, grid->dest + (size_t)grid->column * part, out, part, begin + column);
    }
    if (!rc)
        rc = wsh_blocks_take(&blocks, grid->team->coll->all + begin, grid->across);
    if (rc)
        return rc;
    memcpy(grid->area, grid->dest, part * (size_t)grid->across);
    column_pack(grid, grid->column, grid->area + (size_t)grid->column * part);
    return 0;
}

/* What my row has for a member of my column. */
static void row_pack(const struct grid *grid, int row, char *to)
{
    for (int column = 0; column < grid->across; column++)
        memcpy(to + (size_t)column * grid->len, grid->area + (size_t)(column * grid->down + row) * grid->len,
               grid->len);
}

static int columns_exchange(const struct grid *grid)
{
    const struct wsh_blocks blocks = wsh_blocks_begin(grid->team, ROUTINE);
    size_t part = (size_t)grid->across * grid->len;
    char *mine = grid->dest + (size_t)grid->row * part;
    int rc = 0;

    for (int k = 1; k < grid->down && !rc; k++) {
        int row = (grid->row + k) % grid->down;
        char *out = grid->last + (size_t)row * part;

        row_pack(grid, row, out);
        rc = wsh_blocks_send(&blocks, mine, out, part, grid->below[row]);
    }
    row_pack(grid, grid->row, mine);
    if (!rc)
        rc = wsh_blocks_take(&blocks, grid->below, grid->down);
    wsh_coll_all_entered(grid->team->coll, blocks.before);
    return rc ? rc : wsh_coll_sent(grid->team->coll);
}

int wsh_alltoall_grid(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    struct grid grid = {
        .team = team, .across = wsh_choice_across(team->n_pes), .len = len, .dest = dest, .src = src};
    int rc;

    grid.down = team->n_pes / grid.across;
    grid.row = team->my_pe / grid.across;
    grid.column = team->my_pe % grid.across;
    rc = grid_open(&grid, team->n_pes);
    if (rc)
        return rc;
    rc = rows_exchange(&grid);
    if (!rc)
        rc = wsh_sync(team, ROUTINE);
    if (!rc)
        rc = columns_exchange(&grid);
    free(grid.area);
    return rc;
}
