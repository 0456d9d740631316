/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the command line of the queue benchmark. */
#ifndef PERFTEST_PROXY_OPTIONS_H
#define PERFTEST_PROXY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_LIST = 32 };

struct queue_list {
    unsigned n;
    uint32_t value[QUEUE_LIST];
};

struct queue_options {
    struct queue_list threads, producers, sizes, outstanding;
    uint32_t rings; /* of each proxy thread */
    uint32_t block; /* producers that share a ring */
    uint32_t n_pes;
    uint32_t records; /* puts of one sample, all producers together */
    uint32_t trips;   /* round trips, quiets of one sample */
    uint32_t samples;
    const char *rows; /* separated by commas, or NULL */
    const char *csv;
    bool help;
};

/* false after one line. */
bool queue_options_parse(struct queue_options *o, int argc, char **argv);
bool queue_options_want(const struct queue_options *o, const char *row);

#endif
