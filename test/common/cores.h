/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts which lines of the cache change cores while the members of a team run the library's own collectives, and how
 * long the longest path through them is. A source of runtime/coll that is compiled with this file in front of it
 * reports what it reads and writes; each member is a thread, of which one runs at a time, the one that is behind most.
 * What the model takes as given stands in cores.c.
 */
#ifndef WSH_TEST_CORES_H
#define WSH_TEST_CORES_H

#include "base/atomic.h"
#include "runtime/wait/wait.h"

#include <stddef.h>
#include <string.h>

#define CORES_MAX 64
#define CORES_NEXT 0.15 /* a barrier of 2 to 16 PEs on 16 cores takes 2.0 to 4.1 lines so, of 0.15 us */
#define CORES_BUSY 0.05 /* what short exchanges took beyond that when all began with the same line */

/* Of one call of all members. */
struct cores_count {
    double path;       /* the time of the member that ends last: 1 is a line from one core to another */
    long read;         /* lines that came from another core */
    long claimed;      /* lines that were written after another core had read them */
    long read_most;    /* the most that one member read */
    long claimed_most; /* the most that one member claimed */
};

/* Memory in which lines are counted: `len` bytes for each of n members, aligned to lines. NULL: none is left. */
void *cores_open(int n, size_t len);
void cores_close(void);

/* Runs call(me, arg) as each member; all begin at once. What they hold in their caches stays from one to the next. */
struct cores_count cores_run(void (*call)(int me, void *arg), void *arg);

/* What the sources report. */
void cores_read(const void *at, size_t len);
void cores_write(void *at, size_t len);
void *cores_copy(void *dest, const void *src, size_t len);
int cores_wait(struct wsh_job *job, const struct wsh_wait_why *why, wsh_wait_try try, void *arg);

#ifdef CORES_REPORT
#define wsh_wait cores_wait
#define __atomic_load_n(at, order) (cores_read(at, sizeof *(at)), __atomic_load_n(at, order))
#define __atomic_store_n(at, value, order) (cores_write(at, sizeof *(at)), __atomic_store_n(at, value, order))
#undef memcpy
#define memcpy(dest, src, len) cores_copy(dest, src, len)
#endif

#endif
