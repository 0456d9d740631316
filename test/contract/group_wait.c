/* SPDX-License-Identifier: BSD-3-Clause */
/* The PEs of a run wait for each other here, and report a fault. */
#define _GNU_SOURCE
#include "test/contract/group_shared.h"

#include "base/err.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 300.0 /* seconds that any wait may take: beside other tests, on few cores */

double group_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

bool group_failed(const struct group_pe *pe)
{
    for (int i = 0; i < pe->group->n; i++)
        if (__atomic_load_n(&pe->group->fault[i][0], __ATOMIC_RELAXED))
            return true;
    return false;
}

bool group_check_at(struct group_pe *pe, bool ok, int line, const char *fmt, ...)
{
    char text[400];
    va_list args;

    if (ok || *pe->group->fault[pe->me])
        return ok;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(pe->group->fault[pe->me], sizeof pe->group->fault[pe->me], "PE %d of %d, line %d: %s", pe->me,
             pe->n, line, text);
    return false;
}

bool group_spin(struct group_pe *pe, double start)
{
    int rc = pe->tp ? pe->ops->progress(pe->tp) : 0;

    group_check(pe, rc >= 0, "progress gave %d (%s)", rc, wsh_strerror(rc));
    group_check(pe, group_now() - start < PATIENCE, "waited for more than %.0f s", PATIENCE);
    if (!rc)
        sched_yield();
    return !group_failed(pe);
}

static bool stand_still(struct group_pe *pe, double start)
{
    usleep(200);
    group_check(pe, group_now() - start < PATIENCE, "stood still for more than %.0f s", PATIENCE);
    return !group_failed(pe);
}

/* Sense-reversing: acquire and release order what the PEs wrote before with what they read after. */
static void barrier(struct group_pe *pe, bool (*pass)(struct group_pe *pe, double start))
{
    struct group *group = pe->group;
    unsigned generation = __atomic_load_n(&group->generation, __ATOMIC_ACQUIRE);
    double start = group_now();

    if (__atomic_add_fetch(&group->arrived, 1, __ATOMIC_ACQ_REL) == (unsigned)group->n) {
        __atomic_store_n(&group->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&group->generation, generation + 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&group->generation, __ATOMIC_ACQUIRE) == generation)
        if (!pass(pe, start))
            return;
}

void group_barrier(struct group_pe *pe)
{
    barrier(pe, group_spin);
}

void group_barrier_still(struct group_pe *pe)
{
    barrier(pe, stand_still);
}

/* Release and acquire: who sees the number sees what was written before it. */
void group_set_slot(struct group_pe *pe, int slot, long value)
{
    __atomic_store_n(&pe->group->slot[slot], value, __ATOMIC_RELEASE);
}

long group_slot(struct group_pe *pe, int slot)
{
    return __atomic_load_n(&pe->group->slot[slot], __ATOMIC_ACQUIRE);
}

void group_await(struct group_pe *pe, int slot, long value)
{
    double start = group_now();

    while (group_slot(pe, slot) < value && group_spin(pe, start))
        ;
}

void group_await_still(struct group_pe *pe, int slot, long value)
{
    double start = group_now();

    while (group_slot(pe, slot) < value && stand_still(pe, start))
        ;
}
