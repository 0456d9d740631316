/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * makecontext gives a fiber its stack; from then on _setjmp and _longjmp switch, without the system call by which
 * swapcontext keeps the signal mask.
 */
#undef _FORTIFY_SOURCE /* its longjmp takes the change to another stack for an error */
#include "sim/engine/fiber.h"

#include <stdlib.h>
#include <ucontext.h>

static jmp_buf scheduler;
static ucontext_t scheduler_context;
static struct sim_fiber *starting;

static void fiber_main(void)
{
    struct sim_fiber *fiber = starting;

    fiber->body(fiber->arg);
    _longjmp(scheduler, 1);
}

static void fiber_start(struct sim_fiber *fiber)
{
    ucontext_t context;

    fiber->begun = true;
    starting = fiber;
    if (getcontext(&context))
        abort();
    context.uc_stack.ss_sp = fiber->stack;
    context.uc_stack.ss_size = fiber->size;
    context.uc_link = NULL;
    makecontext(&context, fiber_main, 0);
    swapcontext(&scheduler_context, &context);
}

void sim_fiber_run(struct sim_fiber *fiber)
{
    if (_setjmp(scheduler))
        return;
    if (fiber->begun)
        _longjmp(fiber->at, 1);
    fiber_start(fiber);
}

void sim_fiber_yield(struct sim_fiber *fiber)
{
    if (!_setjmp(fiber->at))
        _longjmp(scheduler, 1);
}
