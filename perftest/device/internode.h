/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of row of internode measures, and the figures kept for the tables of claims after the rows. */
#ifndef PERFTEST_DEVICE_INTERNODE_H
#define PERFTEST_DEVICE_INTERNODE_H

#include <stdio.h>

#include "perftest/device/rows.h"

/* What is done; as a kind of row it is there twice, towards device memory and towards host memory. */
enum inter_what {
    INTER_ORDER_NONE,
    INTER_ORDER_QUIET,
    INTER_ORDER_PUT_SIGNAL,
    INTER_ORDER_COUNTED,
    INTER_ORDER_FENCE,
    INTER_ORDER_FENCE_EACH,
    INTER_ORDER_QUIET_EACH,
    INTER_PUT_BLOCKING,
    INTER_PUT_NBI,
    INTER_POST,
    INTER_POST_LANES,
    INTER_POST_SIGNAL,
    INTER_POST_COUNTED,
    INTER_POST_LIST,
    INTER_POST_RUN_1,
    INTER_POST_RUN_4,
    INTER_POST_RUN_16,
    INTER_POST_COPIED,
    INTER_POST_BARE,
    INTER_POST_BARE_RUN,
    INTER_GRID,
    INTER_ALLTOALL,
    INTER_ALLTOALL_PUT,
    INTER_ALLTOALL_PUT_SIGNAL,
    INTER_WAIT_UNTIL,
    INTER_POLL_FETCH,
    INTER_LOAD_ALONE,
    INTER_LOAD_WAIT_UNTIL,
    INTER_LOAD_POLL_FETCH,
    INTER_WHATS
};

enum { INTER_KINDS = 2 * INTER_WHATS };
#define INTER_KIND(what, in_host) (2 * (what) + (in_host))

static inline enum inter_what inter_what(const struct dev_row *row)
{
    return (enum inter_what)(row->kind / 2);
}

/* A limit, which puts nothing. */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline bool
    inter_is_bare(int what)
{
    return what == INTER_POST_BARE || what == INTER_POST_BARE_RUN;
}

static inline bool inter_in_host(const struct dev_row *row)
{
    return row->kind % 2;
}

/* Who has a part in a row, and whose time counts: the data of a kind. */
enum inter_group {
    INTER_ORDERS,    /* PE 0 sends, the last PE waits; PE 0's time */
    INTER_PUTS,      /* PE 0 alone sends */
    INTER_POSTS,     /* the same; the time that posting one put takes its lanes, without the quiet */
    INTER_GRIDS,     /* PE 0 alone: every lane of a grid posts one put, and nobody waits */
    INTER_ALLTOALLS, /* all PEs; the slowest one's time */
    INTER_WAITS,     /* PE 0 and the last PE in turn; PE 0's time */
    INTER_LOADS      /* PE 0 by itself */
};

extern const struct dev_kind inter_kinds[INTER_KINDS];

static inline enum inter_group inter_group(const struct dev_row *row)
{
    return (enum inter_group)inter_kinds[row->kind].data;
}

/* Puts of an iteration of INTER_ORDERS; bytes of one of them at most. */
enum { INTER_BATCH = 1024, INTER_ORDER_LEN = 16384 };

/* Puts of one iteration of INTER_PUTS and INTER_POSTS, of `len` bytes each: 64, or fewer that make up 4 MiB. */
size_t inter_window(size_t len);

/* Puts that PE 0 makes in one iteration of the row; 0: it is not about puts. */
size_t inter_puts(const struct dev_row *row, int npes);

/* What was counted at PE 0, a put; below 0 where nobody counts. */
struct inter_counted {
    double waits;               /* for a completion at another PE */
    double moved, copied;       /* bytes, by the proxy; of them through its rings in host memory */
    double operations, network; /* that the network was given, and their bytes */
};

/* Of a row: us an iteration, or a put, and what was counted. */
void inter_claims_keep(const struct dev_row *row, double us, const struct inter_counted *counted);
/* The claims, from all rows that were kept: what compares with what, as lines that begin with #. */
void inter_claims_print(FILE *to);

#endif
