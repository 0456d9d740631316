/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fabric test is made of: tables of rows, each a loop over `count` calls, and one program for all. */
#ifndef PERFTEST_FABRIC_ROW_H
#define PERFTEST_FABRIC_ROW_H

#include "perftest/fabric/net.h"

/* Who runs the batches. PE 0's time counts; where all run them, per batch the time of the slowest. */
enum fab_who { FAB_FIRST, FAB_PAIR, FAB_ALL };

/* Whose memory or receives hold data afterwards that the check compares. */
enum fab_lands { FAB_LANDS_LAST, FAB_LANDS_FIRST, FAB_LANDS_PAIR, FAB_LANDS_ALL };

struct fab_row {
    const char *name;
    const char *what; /* for --help */
    enum fab_kind kind;
    enum fab_who who;
    enum fab_lands lands;
    int each; /* reported operations in one count; 0: the window */
    void (*batch)(struct fab_net *net, long count);
    size_t len; /* the only one; 0: as the options say */
};

struct fab_program {
    const char *name;
    const char *what;
    const struct fab_row *rows; /* ends with a row without name */
    struct perf_defaults defaults;
    bool alone; /* two receives, which stay in the cache, and polls that leave the core to nobody */
};

/* What the first word of libfabric chooses; ends with one without name. */
extern const struct fab_program fab_programs[];

#endif
