/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows which algorithm a collective takes, as data: by where the members are, how many, and how many bytes. */
#ifndef WSH_COLL_CHOICE_H
#define WSH_COLL_CHOICE_H

#include <stddef.h>

enum wsh_coll_routine {
    WSH_COLL_SYNC,
    WSH_COLL_BROADCAST, /* its last step, inside a memory domain */
    WSH_COLL_FCOLLECT,
    WSH_COLL_ALLTOALL,
    WSH_COLL_REDUCE,
    WSH_COLL_SCAN,
    WSH_COLL_ROUTINES
};

/*
 * All members share memory; some do; each is in memory of its own, the leaders of hosts among themselves too. Where
 * some machine has fewer cores than PEs, these meet as crowded.
 */
enum wsh_layout { WSH_LAYOUT_ONE, WSH_LAYOUT_HOSTS, WSH_LAYOUT_APART, WSH_LAYOUT_CROWDED };

enum wsh_algo {
    WSH_ALGO_LINEAR,  /* every member signals every other */
    WSH_ALGO_ROUNDS,  /* dissemination: log2(n) rounds */
    WSH_ALGO_FIRST,   /* the first member hears from every other, and tells them */
    WSH_ALGO_LEADERS, /* members and their leader, leaders among themselves, leader and members */
    WSH_ALGO_CELLS,   /* data beside the flag, in a cell of the pad */
    WSH_ALGO_PUSH,    /* straight into the others' dest, then a flag */
    WSH_ALGO_PULL,    /* a flag; the others read, and say so */
    WSH_ALGO_SLICES,  /* each member works out one slice for all, from everybody's memory into everybody's */
    WSH_ALGO_RAILS /* slices on each host, then between members of the same place; else (uneven hosts) slices */
};

struct wsh_choice {
    enum wsh_coll_routine routine;
    unsigned layouts; /* bits: 1 << enum wsh_layout */
    int pes_max;      /* the row is for at most so many members … */
    size_t len_max;   /* … and so many bytes each */
    enum wsh_algo algo;
    const char *why; /* the perftest that chose the numbers, or the reason */
};

/* The first row that fits. There always is one. */
enum wsh_algo wsh_choice_find(enum wsh_coll_routine routine, enum wsh_layout layout, int n_pes, size_t len);

/* Row i in the order of the table, or NULL behind the last; and the words for people. */
const struct wsh_choice *wsh_choice_row(size_t i);
const char *wsh_choice_routine(enum wsh_coll_routine routine);
const char *wsh_choice_algo(enum wsh_algo algo);
/* "one host", "hosts", "apart" …: the layouts of a row. */
const char *wsh_choice_layouts(unsigned layouts);

#endif
