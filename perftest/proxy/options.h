/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the queue benchmark. */
#ifndef PERFTEST_PROXY_OPTIONS_H
#define PERFTEST_PROXY_OPTIONS_H

#include "perftest/common/options.h"

enum { QUEUE_LONGEST = 8 << 20 }; /* bytes of a zero-copy put */

struct queue_options {
    struct perf_options common; /* batch: puts of one sample, all producers together */
    struct perf_numbers threads, producers, outstanding, nics; /* nics: of the efa transport */
    long rings;                                                /* of each proxy thread */
    long block;                                                /* producers that share a ring */
    long n_pes;
    long trips;  /* round trips, quiets of one sample */
    long memory; /* enum queue_where; QUEUE_MEMORIES: each in turn */
};

/* 0; -1 after one line; 1: the help was printed. */
int queue_options_parse(struct queue_options *o, int argc, char **argv);
bool queue_options_want(const struct queue_options *o, const char *row);

#endif
