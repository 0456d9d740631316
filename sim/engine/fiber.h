/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers: each runs on a stack of its own until it gives the thread back to the scheduler. */
#ifndef PERF_SIM_FIBER_H
#define PERF_SIM_FIBER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

struct sim_fiber {
    jmp_buf at;
    bool begun;
    void (*body)(void *arg);
    void *arg;
    char *stack;
    size_t size;
};

/* By the scheduler: runs the fiber until it yields. One whose body has returned must not be run again. */
void sim_fiber_run(struct sim_fiber *fiber);
/* By the fiber. */
void sim_fiber_yield(struct sim_fiber *fiber);

#endif
