/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs that have a core each leave the one that they share; a wait keeps a core that it has alone. */
#define _GNU_SOURCE
#include "runtime/wait/cores.h"

#include "runtime/coll/choose/state.h"
#include "runtime/job/job.h"
#include "runtime/wait/wait.h"
#include "test/common/unit.h"

#include <errno.h>
#include <sched.h>

#define PES 3

static struct wsh_job job;
static struct wsh_coll coll;
static uint64_t areas[PES][2]; /* as far as they are read here */
static int local[PES] = {0, 1, 2};
static char *peer[PES];
static int cpu, moves, yields; /* of this thread */
static cpu_set_t allowed;      /* to it */

/* These stand for those of libc. */
int sched_getcpu(void)
{
    return cpu;
}

int sched_yield(void)
{
    return yields++, 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid, (void)size;
    *set = allowed;
    return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    (void)pid, (void)size;
    allowed = *set;
    for (int i = 0; !CPU_ISSET(cpu, set); i++)
        if (CPU_ISSET(i, set))
            cpu = i, moves++;
    return 0;
}

/* This is PE `me`; the others were seen on these processors (-1: not yet). All may use the first four. */
static void place(int me, int mine, int one, int other)
{
    const int seen[2] = {one, other};

    coll = (struct wsh_coll){.n_local = PES, .local = local, .peer = peer, .base = (char *)areas[me]};
    coll.area.core = sizeof(uint64_t);
    job.world.coll = &coll;
    job.my_pe = job.local_rank = me;
    job.left_core = 0;
    for (int pe = 0, i = 0; pe < PES; pe++) {
        peer[pe] = (char *)areas[pe];
        areas[pe][1] = pe == me ? 0 : (uint64_t)(seen[i++] + 1);
    }
    cpu = mine;
    moves = yields = 0;
    CPU_ZERO(&allowed);
    for (int i = 0; i < 4; i++)
        CPU_SET(i, &allowed);
}

static void sees_who_shares_its_core(void)
{
    place(1, 2, 0, 3);
    CU_ASSERT(!wsh_cores_shared(&job));
    CU_ASSERT_EQUAL(areas[1][1], 3);
    place(1, 2, 0, 2);
    CU_ASSERT(wsh_cores_shared(&job));
    place(1, 0, -1, -1);
    CU_ASSERT(!wsh_cores_shared(&job));
    job.world.coll = NULL;
    CU_ASSERT(!wsh_cores_shared(&job));
}

static void leaves_for_a_core_without_pe(void)
{
    place(2, 0, 0, 1);
    CU_ASSERT(wsh_cores_leave(&job));
    CU_ASSERT(moves == 1 && (cpu == 2 || cpu == 3) && areas[2][1] == (uint64_t)cpu + 1);
    CU_ASSERT_EQUAL(CPU_COUNT(&allowed), 4); /* as before */
    place(0, 0, 0, 1);                       /* the first of those that share one stays */
    CU_ASSERT(!wsh_cores_leave(&job) && moves == 0);
    place(2, 0, 0, 1);
    job.left_core = wsh_wait_now(); /* only now and then */
    CU_ASSERT(!wsh_cores_leave(&job) && moves == 0);
}

static void stays_where_no_core_is_free(void)
{
    place(2, 0, 0, 1);
    CPU_ZERO(&allowed);
    CPU_SET(0, &allowed);
    CPU_SET(1, &allowed);
    CU_ASSERT(!wsh_cores_leave(&job) && moves == 0);
}

static int ends_after(void *arg)
{
    return (*(int *)arg)-- > 0 ? -EAGAIN : 0;
}

static int wait_yields(int tries)
{
    const struct wsh_wait_why why = {"shmem_quiet", NULL, 0};

    CU_ASSERT_EQUAL(wsh_wait(&job, &why, ends_after, &tries), 0);
    return yields;
}

static void spins_on_a_core_of_its_own(void)
{
    job.env.spin_us = -1; /* as without the setting */
    wsh_wait_tune(&job, PES, 4);
    place(1, 2, 0, 3);
    CU_ASSERT_EQUAL(wait_yields(20000), 0);
    place(2, 0, 0, 1); /* leaves the core, and spins on */
    CU_ASSERT(wait_yields(20000) == 0 && moves == 1);
    place(0, 0, 0, 1); /* stays with the other, which needs the core */
    CU_ASSERT(wait_yields(20000) > 1000);
    wsh_wait_tune(&job, PES, 2);
    place(1, 2, 0, 3);
    CU_ASSERT(wait_yields(2000) > 1000);
    job.world.coll = NULL;
}

const struct unit_test unit_tests[] = {
    {"sees which PEs share its core", sees_who_shares_its_core},
    {"leaves for a core without a PE, and may run where it might before", leaves_for_a_core_without_pe},
    {"stays where no core is free", stays_where_no_core_is_free},
    {"a wait spins on a core of its own, and yields one that PEs share", spins_on_a_core_of_its_own},
    {NULL, NULL},
};
