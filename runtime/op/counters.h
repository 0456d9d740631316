/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of counted puts: a put to a PE adds 1 to its counter of that number when the data are visible there.
 *
 * A counter is words, each with one domain of writers: a symmetric one in the host heap, to which CPUs add, one in
 * the device heap, to which GPUs do, and those in which NICs count (nic_counters.h). Its value is their sum. The
 * members of a team take a row of counters together, free at all of them; from one use of a counter to the next its
 * generation counts up, alike at all members.
 */
#ifndef WSH_COUNTERS_H
#define WSH_COUNTERS_H

#include "runtime/coll/memory/pool.h"
#include "runtime/op/nic_counters.h"

struct wsh_ctx;
struct wsh_job;
struct wsh_signal;
struct wsh_target;
struct wsh_team;

/* Of the counters in a unit of the pool. Relaxed: set before a sync that comes before the first put. */
struct wsh_counter_unit {
    uint32_t generation;
    uint32_t n; /* counters of the row that begins here */
    uint32_t live;
    uint32_t late; /* was given back without all members */
};

struct wsh_counters {
    struct wsh_pool pool;          /* of the words in the host heap */
    struct wsh_counter_unit *unit; /* [pool.n_units] */
    uint32_t per_unit;
    struct wsh_nic_counters nic;
};

/* What the program holds: generation above bit 32, below it 1 + number. 0 is no counter. */
typedef uint64_t wsh_counter;

/* SHMEM_COUNTERS of them. 0 or a logged error. */
int wsh_counters_open(struct wsh_job *job);
void wsh_counters_close(struct wsh_job *job);

/* Bytes of the words in either heap. */
size_t wsh_counters_len(const struct wsh_job *job);

/* Collective over the team. 0; -ENOMEM (logged), alike at all members; a final error. */
int wsh_counters_create(struct wsh_team *team, size_t n, wsh_counter *counters);
/* The n of one create, when all puts with them are complete. -EINVAL: they are not (unlogged). */
int wsh_counters_destroy(struct wsh_team *team, size_t n, const wsh_counter *counters);

/* Its number, or -1: it is no counter, or destroyed. */
long wsh_counter_number(const struct wsh_job *job, wsh_counter counter);

/* As wsh_put_nbi (rma.h). `number`: of a counter. */
int wsh_put_counted_nbi(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, uint32_t number, int pe);

/* The value; acquire. */
uint64_t wsh_counter_fetch(struct wsh_job *job, uint32_t number);
/* Waits until it is `value` or more. 0 or a final error. */
int wsh_counter_wait(struct wsh_job *job, uint32_t number, uint64_t value, const char *routine);
/* The same for at most so many seconds: -ETIMEDOUT then, and -ECANCELED where a PE has failed since the call began. */
int wsh_counter_wait_timed(struct wsh_job *job, uint32_t number, uint64_t value, double seconds,
                           const char *routine);

/*
 * Kernels name a counter by the address of its word in the host heap. Where that is one, *signal becomes that of a
 * counted put to `to`. 0, or -EINVAL (logged): the counter is not in use.
 */
int wsh_counters_recognize(const struct wsh_job *job, const struct wsh_target *to, struct wsh_signal *signal);

/* wsh_tp_params.tally */
int wsh_counters_count(void *job, uint32_t number, uint32_t generation, uint32_t mask);

#endif
