/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue behind a lock (Mellor-Crummey and Scott's). The long of the lock is two words at every PE. `tail` counts at
 * one PE only, the lock's home: the PE that came last, plus 1; 0 = the lock is free. `node` is the PE's own place in
 * the queue, and the only word that it waits on:
 *
 *   set    node = MINE | WAIT; before = swap(home's tail, me + 1). Nobody before: held. Else node of `before`
 *          |= me + 1, and wait until WAIT is gone from the own node.
 *   clear  quiet; nobody behind, and tail still me + 1: cswap to 0. Else the one behind is in the own node, or
 *          about to be: wait for it, and take WAIT out of its node.
 *
 * The one behind ORs bits 0 to 29 and the one before ANDs bit 31, each once: neither can undo the other.
 */
#include "runtime/op/lock.h"

#include "runtime/op/amo.h"
#include "runtime/job/job.h"
#include "runtime/op/order.h"
#include "runtime/wait/poll.h"
#include "runtime/wait/wait.h"

#include <stdio.h>

#define WAIT (UINT32_C(1) << 31) /* the PE before has not cleared the lock */
#define MINE (UINT32_C(1) << 30) /* this PE waits for the lock or holds it */
#define NEXT (MINE - 1)          /* the PE behind, plus 1 */

struct words {
    uint32_t tail, node;
};

_Static_assert(sizeof(struct words) == sizeof(long), "a lock is a long");

/* A lock as one call sees it. */
struct call {
    struct wsh_job *job;
    struct words *words;
    int home;
    int before; /* the PE waited for, or -1 */
};

/* Locks that lie side by side have their homes at different PEs. */
static int call_begin(struct call *call, struct wsh_job *job, long *lock)
{
    size_t off;
    int seg = wsh_heap_find(&job->heap, lock, sizeof *lock, &off);

    if (seg < 0 || seg >= WSH_SEG_DEVICE || off % sizeof *lock)
        return -EFAULT;
    *call = (struct call){job, (struct words *)lock, (int)(off / sizeof *lock % (size_t)job->n_pes), -1};
    return 0;
}

static int word_change(struct call *call, uint32_t *word, enum wsh_amo_op op, uint32_t operand, int pe)
{
    const struct wsh_amo amo = {op, sizeof *word, operand, 0};

    return wsh_amo(&call->job->ctx, word, &amo, NULL, pe);
}

/* Acquire: what the PE before did under the lock is seen. Partner: its AND, after its quiet. */
static uint32_t node_of(const struct call *call)
{
    uint32_t node = __atomic_load_n(&call->words->node, __ATOMIC_ACQUIRE);

    wsh_order_returns();
    return node;
}

/* Only while no other PE can know this one's place in the queue. Release: before the tail names this PE. */
static void set_node(const struct call *call, uint32_t node)
{
    __atomic_store_n(&call->words->node, node, __ATOMIC_RELEASE);
}

static int try_held(void *arg)
{
    return node_of(arg) & WAIT ? -EAGAIN : 0;
}

static int try_next(void *arg)
{
    return node_of(arg) & NEXT ? 0 : -EAGAIN;
}

static void call_describe(void *arg, char *text, size_t size)
{
    const struct call *call = arg;

    if (call->before < 0)
        snprintf(text, size, "the next PE in the queue of the lock at %p", (void *)call->words);
    else
        snprintf(text, size, "PE %d to clear the lock at %p", call->before, (void *)call->words);
}

static int wait_behind(struct call *call, uint32_t before)
{
    static const struct wsh_wait_why why = {"shmem_set_lock", call_describe};
    int rc;

    call->before = (int)before - 1;
    rc = word_change(call, &call->words->node, WSH_AMO_OR, (uint32_t)call->job->my_pe + 1, call->before);
    return rc ? rc : wsh_wait(call->job, &why, try_held, call);
}

/* Joins the queue at its end (SWAP), or only if it is empty (CSWAP). *before: the PE that was last, plus 1; 0: none. */
static int queue_join(struct call *call, struct wsh_job *job, long *lock, enum wsh_amo_op op,
                      uint32_t *before)
{
    const struct wsh_amo amo = {op, sizeof(uint32_t), (uint32_t)job->my_pe + 1, 0};
    int rc = call_begin(call, job, lock);

    *before = 0;
    if (rc || node_of(call))
        return rc ? rc : -EDEADLK;
    set_node(call, MINE | WAIT);
    return wsh_amo(&job->ctx, &call->words->tail, &amo, before, call->home);
}

int wsh_lock_set(struct wsh_job *job, long *lock)
{
    struct call call;
    uint32_t before;
    int rc = queue_join(&call, job, lock, WSH_AMO_SWAP, &before);

    return rc || !before ? rc : wait_behind(&call, before);
}

int wsh_lock_test(struct wsh_job *job, long *lock, bool *held)
{
    struct call call;
    uint32_t before;
    int rc = queue_join(&call, job, lock, WSH_AMO_CSWAP, &before);

    *held = !rc && !before;
    if (!rc && before) {
        set_node(&call, 0);
        wsh_poll_failed(job);
    }
    return rc;
}

/* With no PE behind. *left = the lock is free now; else another PE has joined the queue meanwhile. */
static int queue_leave(struct call *call, bool *left)
{
    const uint32_t me = (uint32_t)call->job->my_pe + 1;
    const struct wsh_amo go = {WSH_AMO_CSWAP, sizeof me, 0, me};
    uint32_t last = 0;
    int rc = wsh_amo(&call->job->ctx, &call->words->tail, &go, &last, call->home);

    *left = !rc && last == me;
    return rc;
}

static int lock_pass_on(struct call *call)
{
    static const struct wsh_wait_why why = {"shmem_clear_lock", call_describe};
    int rc = wsh_wait(call->job, &why, try_next, call), next;

    if (rc)
        return rc;
    next = (int)(node_of(call) & NEXT) - 1;
    set_node(call, 0);
    return word_change(call, &call->words->node, WSH_AMO_AND, ~WAIT, next);
}

int wsh_lock_clear(struct wsh_job *job, long *lock)
{
    struct call call;
    bool left = false;
    int rc = call_begin(&call, job, lock);

    if (rc || !node_of(&call))
        return rc ? rc : -EPERM;
    rc = wsh_quiet(&job->ctx);
    if (!rc && !(node_of(&call) & NEXT))
        rc = queue_leave(&call, &left);
    if (left)
        set_node(&call, 0);
    return rc || left ? rc : lock_pass_on(&call);
}
