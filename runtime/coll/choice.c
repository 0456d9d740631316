/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the numbers. The only place where sizes and numbers of members decide between algorithms. */
#include "runtime/coll/choice.h"

#include "runtime/coll/pad.h"

#include <limits.h>
#include <stdint.h>

#define ONE (1U << WSH_LAYOUT_ONE)
#define HOSTS (1U << WSH_LAYOUT_HOSTS)
#define APART (1U << WSH_LAYOUT_APART)
#define CROWDED (1U << WSH_LAYOUT_CROWDED)

/* clang-format off */
static const struct wsh_choice table[] = {
    {WSH_COLL_SYNC, ONE, 32, SIZE_MAX, WSH_ALGO_LINEAR,
     "barrier with 2 to 16 PEs; SHMEM_SYNC_LINEAR_MAX replaces the number"},
    {WSH_COLL_SYNC, APART, 3, SIZE_MAX, WSH_ALGO_LINEAR, "barrier over tcp: one step of the network"},
    {WSH_COLL_SYNC, CROWDED, 2, SIZE_MAX, WSH_ALGO_LINEAR, "one step of the network"},
    {WSH_COLL_SYNC, CROWDED, 64, SIZE_MAX, WSH_ALGO_FIRST,
     "barrier over tcp with 4 to 16 PEs on 2 cores: fewest messages and turns on a core"},
    {WSH_COLL_SYNC, ONE | APART | CROWDED, INT_MAX, SIZE_MAX, WSH_ALGO_ROUNDS, "fewest messages a member"},
    {WSH_COLL_SYNC, HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_LEADERS, "fewest messages between hosts"},
    {WSH_COLL_BROADCAST, ONE | HOSTS | APART, INT_MAX, WSH_RING_DATA, WSH_ALGO_CELLS,
     "data and flag are one cache line"},
    {WSH_COLL_BROADCAST, ONE | HOSTS | APART, 2, SIZE_MAX, WSH_ALGO_PUSH, "broadcast_latency with 2 PEs"},
    {WSH_COLL_BROADCAST, ONE | HOSTS | APART, INT_MAX, 4096, WSH_ALGO_PUSH, "broadcast_latency with 4 and 8 PEs"},
    {WSH_COLL_BROADCAST, ONE | HOSTS | APART, INT_MAX, SIZE_MAX, WSH_ALGO_PULL, "all members copy at the same time"},
    {WSH_COLL_FCOLLECT, ONE, INT_MAX, WSH_CELL_DATA, WSH_ALGO_CELLS, "fcollect_latency with 2 to 8 PEs"},
    {WSH_COLL_FCOLLECT, ONE, 8, 524288, WSH_ALGO_PUSH, "collect_latency with 2 to 8 PEs, 64 KiB to 4 MiB"},
    {WSH_COLL_FCOLLECT, ONE, INT_MAX, 32768, WSH_ALGO_PUSH, "one step"},
    {WSH_COLL_FCOLLECT, ONE, INT_MAX, SIZE_MAX, WSH_ALGO_PULL, "collect_latency with 16 PEs, 64 KiB to 1 MiB"},
    {WSH_COLL_FCOLLECT, APART, INT_MAX, SIZE_MAX, WSH_ALGO_ROUNDS,
     "collect_latency over tcp with 4 PEs: fewest messages; push where their number is no power of two"},
    {WSH_COLL_FCOLLECT, HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_LEADERS, "each block crosses the network once a host"},
    {WSH_COLL_ALLTOALL, ONE, 2, 262144, WSH_ALGO_PUSH, "alltoall_latency with 2 PEs: one step"},
    {WSH_COLL_ALLTOALL, ONE, 8, WSH_CELL_DATA / 8, WSH_ALGO_CELLS, "alltoall_latency with 4 and 8 PEs"},
    {WSH_COLL_ALLTOALL, ONE, 64, WSH_CELL_DATA / 64, WSH_ALGO_CELLS, "alltoall_latency with 16 PEs"},
    {WSH_COLL_ALLTOALL, ONE, 8, 262144, WSH_ALGO_PUSH, "alltoall_latency with 4 and 8 PEs: one step"},
    {WSH_COLL_ALLTOALL, ONE, INT_MAX, 32768, WSH_ALGO_PUSH, "alltoall_latency with 16 PEs: one step"},
    {WSH_COLL_ALLTOALL, ONE, INT_MAX, SIZE_MAX, WSH_ALGO_PULL, "alltoall_latency: who reads keeps what is read"},
    {WSH_COLL_ALLTOALL, HOSTS | APART, INT_MAX, SIZE_MAX, WSH_ALGO_PUSH, "alltoall_latency: one step"},
    {WSH_COLL_REDUCE, ONE, INT_MAX, WSH_CELL_DATA, WSH_ALGO_CELLS, "reduce_latency with 2 to 8 PEs: one step"},
    {WSH_COLL_REDUCE, HOSTS | APART, INT_MAX, 4096, WSH_ALGO_LEADERS,
     "reduce_latency over net, 2 to 16 PEs, and 64 on 8 emulated hosts: fewest messages, in pieces of a cell"},
    {WSH_COLL_REDUCE, HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_RAILS, "each byte crosses the network once a host"},
    {WSH_COLL_REDUCE, ONE | APART, INT_MAX, SIZE_MAX, WSH_ALGO_SLICES, "reduce_latency: two syncs at any size"},
    {WSH_COLL_SCAN, ONE, INT_MAX, WSH_CELL_DATA, WSH_ALGO_CELLS, "scan_latency with 2 to 8 PEs: one step"},
    {WSH_COLL_SCAN, ONE | HOSTS | APART, INT_MAX, SIZE_MAX, WSH_ALGO_SLICES, "scan_latency: two syncs at any size"},
};
/* clang-format on */

#define ROWS (sizeof table / sizeof table[0])

enum wsh_algo wsh_choice_find(enum wsh_coll_routine routine, enum wsh_layout layout, int n_pes, size_t len)
{
    size_t i = 0;

    while (i + 1 < ROWS && (table[i].routine != routine || !(table[i].layouts >> layout & 1) ||
                            n_pes > table[i].pes_max || len > table[i].len_max))
        i++;
    return table[i].algo;
}

const struct wsh_choice *wsh_choice_row(size_t i)
{
    return i < ROWS ? &table[i] : NULL;
}

const char *wsh_choice_routine(enum wsh_coll_routine routine)
{
    static const char *const names[WSH_COLL_ROUTINES] = {"sync",     "broadcast", "fcollect",
                                                         "alltoall", "reduce",    "scan"};

    return names[routine];
}

const char *wsh_choice_algo(enum wsh_algo algo)
{
    static const char *const names[] = {"linear", "rounds", "first",  "leaders", "cells",
                                        "push",   "pull",   "slices", "rails"};

    return names[algo];
}

const char *wsh_choice_layouts(unsigned layouts)
{
    switch (layouts) {
    case ONE: return "one host";
    case CROWDED: return "apart, few cores";
    case HOSTS: return "several hosts";
    case APART: return "apart";
    case ONE | APART | CROWDED: return "one host, apart";
    case HOSTS | APART: return "several hosts, apart";
    default: return "any";
    }
}
