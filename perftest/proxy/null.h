/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of many PEs over a transport without a network, and proxy threads on it: everything behind the rings is the
 * library's own, from the record to the call of the transport and back through its counters. Or over the efa transport,
 * whose provider only completes (stub.h).
 */
#ifndef PERFTEST_PROXY_NULL_H
#define PERFTEST_PROXY_NULL_H

#include "perftest/proxy/queue.h"

#include <stdbool.h>
#include <stddef.h>

struct null_job;

/* Of one run, all threads together. */
struct null_figures {
    uint64_t records, checked,
        wrong;          /* wrong: of the operations whose bytes were compared, or that went nowhere */
    uint64_t doorbells; /* of the efa transport: what it gave without word of more */
    uint64_t refused;   /* times that the transport had no room */
    uint64_t depth;     /* the most slots of a ring in use */
};

/* `threads` consumers over the rings, memory->each for each of them. NULL: no memory, or no efa transport. */
struct null_job *null_open(const struct queue_memory *memory, unsigned threads, unsigned n_pes,
                           size_t heap_len, bool efa);
void null_close(struct null_job *job);

/*
 * Records that are no write, at most a quiet of each thread after a put, and puts that the transport cuts: the number
 * of writes is then not that of records.
 */
void null_expect(struct null_job *job, bool quiets, bool cuts);

/* Where the targets of a work lie: heap_len bytes, then a word for atomics. */
uint64_t null_heap(const struct null_job *job);

/* The threads run, by the library's own loop, until they are stopped: 0, or -1. */
int null_start(struct null_job *job);
void null_stop(struct null_job *job);

/* In the caller's thread instead, until nothing is left: false = a final error. */
bool null_drain(struct null_job *job);

/* All that producers have pushed is complete. */
bool null_is_idle(const struct null_job *job);

struct null_figures null_figures(const struct null_job *job);

#endif
