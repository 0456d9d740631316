/* SPDX-License-Identifier: BSD-3-Clause */
/* How options choose among the rows of the program's table. */
#include "perftest/device/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const dev_scope_names[DEV_SCOPES] = {"thread", "warp", "block", "stream", "graph", "host"};

const char *dev_row_id(char *id, const struct dev_row *row)
{
    snprintf(id, DEV_ID_TEXT, "%s.%s.%zu.%dx%d", dev_table.kinds[row->kind].name, dev_scope_names[row->scope],
             row->size, row->blocks, row->threads);
    return id;
}

long dev_row_lanes(const struct dev_row *row)
{
    long threads = (long)row->blocks * row->threads;

    return row->scope == DEV_THREAD ? threads : row->scope == DEV_WARP ? threads / 32 : row->blocks;
}

bool dev_row_wanted(const struct dev_row *row, const struct dev_options *o)
{
    char id[DEV_ID_TEXT];

    return (o->scope == DEV_SCOPES || row->scope == (enum dev_scope)o->scope) &&
           perf_list_fits(o->perf.rows, dev_table.kinds[row->kind].name, dev_row_id(id, row));
}

static int rows_add(struct dev_row *rows, int n, const struct dev_row *row, const struct dev_options *o)
{
    if (n == DEV_MAX_ROWS || !dev_row_wanted(row, o) || !dev_table.possible(row, (int)o->pes))
        return n;
    for (int i = 0; i < n; i++)
        if (!memcmp(&rows[i], row, sizeof *row))
            return n;
    rows[n] = *row;
    return n + 1;
}

/* One shape and grid at all its sizes, or those of the options. */
static int rows_add_sizes(struct dev_row *rows, int n, const struct dev_shape *shape, struct dev_row row,
                          const struct dev_options *o)
{
    bool fixed = dev_table.kinds[shape->kind].flags & DEV_FIXED;
    char word[16];

    for (int i = 0; i < o->perf.nsizes && !fixed; i++) {
        row.size = o->perf.sizes[i];
        n = rows_add(rows, n, &row, o);
    }
    for (const char *at = o->perf.nsizes && !fixed ? "" : shape->sizes;
         perf_list_next(&at, word, sizeof word);) {
        row.size = 0;
        perf_size_parse(word, &row.size); /* "0" is none and stays 0 */
        n = rows_add(rows, n, &row, o);
    }
    return n;
}

/* One shape and its grid, or the numbers of blocks of the options. */
static int rows_add_grids(struct dev_row *rows, int n, const struct dev_shape *shape, struct dev_row row,
                          const struct dev_options *o)
{
    bool chosen = o->blocks.n && dev_table.kinds[shape->kind].unit != DEV_US;

    if (o->threads && shape->scope == DEV_BLOCK)
        row.threads = (int)o->threads;
    for (int i = 0; i < (chosen ? o->blocks.n : 1); i++) {
        if (chosen)
            row.blocks = (int)o->blocks.value[i];
        n = rows_add_sizes(rows, n, shape, row, o);
    }
    return n;
}

int dev_rows_expand(struct dev_row *rows, const struct dev_options *o)
{
    int n = 0;

    for (int i = 0; i < dev_table.n_shapes; i++) {
        const struct dev_shape *shape = &dev_table.shapes[i];
        char grid[16], *end;
        for (const char *at = shape->grids; perf_list_next(&at, grid, sizeof grid);) {
            struct dev_row row;
            memset(&row, 0, sizeof row);
            row.kind = shape->kind;
            row.scope = shape->scope;
            row.blocks = (int)strtol(grid, &end, 10);
            row.threads = (int)strtol(end + 1, NULL, 10);
            n = rows_add_grids(rows, n, shape, row, o);
        }
    }
    return n;
}
