/* SPDX-License-Identifier: BSD-3-Clause */
/* How options choose among the rows of the program's table. */
#include "perftest/device/rows.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const dev_scope_names[DEV_SCOPES] = {"thread", "warp", "block", "stream", "graph", "host"};

size_t dev_size_parse(const char *text)
{
    static const char units[] = "kKmMgG";
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;

    if (end == text || *text == '-' || (*end && (!unit || end[1])) || n > 1ull << 40)
        return 0;
    return (size_t)n << (unit ? 10 * ((unit - units) / 2 + 1) : 0);
}

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
    char id[DEV_ID_TEXT], pattern[DEV_ID_TEXT];

    if (o->scope != DEV_SCOPES && row->scope != (enum dev_scope)o->scope)
        return false;
    dev_row_id(id, row);
    for (const char *p = o->rows ? o->rows : "*"; *p;) {
        size_t n = strcspn(p, ",");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, p);
        if (!fnmatch(pattern, id, 0) || !fnmatch(pattern, dev_table.kinds[row->kind].name, 0))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

static int add(struct dev_row *rows, int n, const struct dev_row *row, const struct dev_options *o)
{
    if (n == DEV_MAX_ROWS || !dev_row_wanted(row, o) || !dev_table.possible(row, o->pes))
        return n;
    for (int i = 0; i < n; i++)
        if (!memcmp(&rows[i], row, sizeof *row))
            return n;
    rows[n] = *row;
    return n + 1;
}

/* One shape and grid at all its sizes, or those of the options. */
static int add_sizes(struct dev_row *rows, int n, const struct dev_shape *shape, struct dev_row row,
                     const struct dev_options *o)
{
    char item[16];

    if (o->end && !(dev_table.kinds[shape->kind].flags & DEV_FIXED)) {
        for (double size = (double)o->begin; (size_t)size <= o->end; size *= o->factor) {
            row.size = (size_t)size;
            n = add(rows, n, &row, o);
        }
        return n;
    }
    for (const char *p = shape->sizes; *p;) {
        size_t len = strcspn(p, ",");
        snprintf(item, sizeof item, "%.*s", (int)len, p);
        row.size = dev_size_parse(item);
        n = add(rows, n, &row, o);
        p += len + (p[len] == ',');
    }
    return n;
}

int dev_rows_expand(struct dev_row *rows, const struct dev_options *o)
{
    int n = 0;

    for (int i = 0; i < dev_table.n_shapes; i++) {
        const struct dev_shape *shape = &dev_table.shapes[i];
        for (const char *p = shape->grids; *p; p += strcspn(p, ","), p += *p == ',') {
            struct dev_row row;
            char *end;
            memset(&row, 0, sizeof row);
            row.kind = shape->kind;
            row.scope = shape->scope;
            row.blocks = (int)strtol(p, &end, 10);
            row.threads = (int)strtol(end + 1, NULL, 10);
            if (o->blocks && dev_table.kinds[shape->kind].unit != DEV_US)
                row.blocks = o->blocks;
            if (o->threads && shape->scope == DEV_BLOCK)
                row.threads = o->threads;
            n = add_sizes(rows, n, shape, row, o);
        }
    }
    return n;
}
