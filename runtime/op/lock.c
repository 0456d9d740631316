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
 * The one behind ORs bits 0 to 19 and the one before ANDs bit 31, each once: neither can undo the other.
 *
 * A PE that fails while the others go on takes its node with it, and who is behind it is not known. So once a PE has
 * failed nobody waits for a lock any more, until the world has shrunk (team/shrink.c). Each word has the number of
 * shrinks when it was written: a word of before says no more than 0.
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
#define LEFT (UINT32_C(1) << 29) /* it has given up, since a PE has failed */
#define TURN_AT 20               /* the number of shrinks, where both words have it */
#define TURN (UINT32_C(0x1ff) << TURN_AT)
#define NEXT ((UINT32_C(1) << TURN_AT) - 1) /* the PE behind, plus 1; of the tail, the last one */

struct words {
    uint32_t tail, node;
};

_Static_assert(sizeof(struct words) == sizeof(long), "a lock is a long");

/* A lock as one call sees it. */
struct call {
    struct wsh_job *job;
    struct words *words;
    int home;
    int before;    /* the PE waited for, or -1 */
    uint32_t turn; /* the number of shrinks, at its place in a word */
};

/* Locks that lie side by side have their homes at different PEs. */
static int call_begin(struct call *call, struct wsh_job *job, long *lock)
{
    size_t off;
    int seg = wsh_heap_find(&job->heap, lock, sizeof *lock, &off);

    if (seg < 0 || seg >= WSH_SEG_DEVICE || off % sizeof *lock)
        return -EFAULT;
    *call = (struct call){.job = job, .words = (struct words *)lock, .before = -1};
    call->home = job->all->members[off / sizeof *lock % (size_t)job->all->n_pes];
    call->turn = job->shrinks << TURN_AT & TURN;
    return 0;
}

/* A word, or 0 where it is of before a shrink. */
static uint32_t word_now(const struct call *call, uint32_t word)
{
    return (word & TURN) == call->turn ? word : 0;
}

/* This PE as the last one of a queue. */
static uint32_t tail_mine(const struct call *call)
{
    return call->turn | ((uint32_t)call->job->my_pe + 1);
}

/* Some PE has failed since the world has shrunk last. */
static bool is_unrepaired(struct wsh_job *job)
{
    return wsh_unlikely(job->failures.failed != NULL) && wsh_failures_generation(job) != job->shrunk_at &&
           wsh_failures_take(job);
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
    return word_now(call, node);
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

/* Any that has failed since the world has shrunk may be in the queue. */
static int call_needs(void *arg, int pe)
{
    const struct call *call = arg;

    if (pe < 0)
        return call->before;
    if (wsh_failures_has(&call->job->failures, pe))
        return wsh_failures_at(&call->job->failures, pe) > call->job->shrunk_at;
    return pe == call->before;
}

static void call_describe(void *arg, char *text, size_t size)
{
    const struct call *call = arg;

    if (call->before < 0)
        snprintf(text, size, "the next PE in the queue of the lock at %p", (void *)call->words);
    else
        snprintf(text, size, "PE %d to clear the lock at %p", call->before, (void *)call->words);
}

/* After a wait: this PE has given up if some PE has failed. Relaxed: for this PE alone. */
static int node_leave(const struct call *call, int rc)
{
    if (rc == -EOWNERDEAD)
        __atomic_fetch_or(&call->words->node, LEFT, __ATOMIC_RELAXED);
    return rc;
}

static int wait_behind(struct call *call, uint32_t before)
{
    static const struct wsh_wait_why why = {"shmem_set_lock", call_describe, call_needs};
    int rc;

    call->before = (int)(before & NEXT) - 1;
    rc = word_change(call, &call->words->node, WSH_AMO_OR, (uint32_t)call->job->my_pe + 1, call->before);
    rc = rc ? rc : wsh_wait(call->job, &why, try_held, call);
    return node_leave(call, rc);
}

/* Joins the queue at its end (SWAP), or only if it is empty (CSWAP). *before: the PE that was last, plus 1; 0: none. */
static int queue_join(struct call *call, struct wsh_job *job, long *lock, enum wsh_amo_op op,
                      uint32_t *before)
{
    struct wsh_amo amo = {op, sizeof(uint32_t), 0, 0};
    int rc = call_begin(call, job, lock);

    *before = 0;
    if (rc || node_of(call))
        return rc ? rc : node_of(call) & LEFT ? -EOWNERDEAD : -EDEADLK;
    set_node(call, MINE | WAIT | call->turn);
    amo.operand = tail_mine(call);
    rc = wsh_amo(&job->ctx, &call->words->tail, &amo, before, call->home);
    while (!rc && op == WSH_AMO_CSWAP && *before != amo.compare && !word_now(call, *before)) {
        amo.compare = *before; /* of before a shrink: the lock is free */
        rc = wsh_amo(&job->ctx, &call->words->tail, &amo, before, call->home);
    }
    if (!rc && is_unrepaired(job) && wsh_failures_has(&job->failures, call->home)) {
        set_node(call, 0); /* what is read there is nothing */
        return -EOWNERDEAD;
    }
    *before = *before == amo.compare ? 0 : word_now(call, *before);
    return rc;
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
    const uint32_t me = tail_mine(call);
    const struct wsh_amo go = {WSH_AMO_CSWAP, sizeof me, 0, me};
    uint32_t last = 0;
    int rc = wsh_amo(&call->job->ctx, &call->words->tail, &go, &last, call->home);

    *left = !rc && last == me;
    return rc;
}

static int lock_pass_on(struct call *call)
{
    static const struct wsh_wait_why why = {"shmem_clear_lock", call_describe, call_needs};
    int rc = wsh_wait(call->job, &why, try_next, call), next;

    if (rc)
        return node_leave(call, rc);
    next = (int)(node_of(call) & NEXT) - 1;
    set_node(call, 0);
    return word_change(call, &call->words->node, WSH_AMO_AND, ~WAIT, next);
}

/* Set before a shrink, which has made all locks free, or not at all. */
static int node_forget(const struct call *call)
{
    if (!__atomic_load_n(&call->words->node, __ATOMIC_RELAXED))
        return -EPERM;
    set_node(call, 0);
    return 0;
}

int wsh_lock_clear(struct wsh_job *job, long *lock)
{
    struct call call;
    bool left = false;
    int rc = call_begin(&call, job, lock);

    if (rc)
        return rc;
    if (!node_of(&call))
        return node_forget(&call);
    if (node_of(&call) & LEFT)
        return 0;
    rc = wsh_quiet(&job->ctx);
    if (!rc && !(node_of(&call) & NEXT))
        rc = queue_leave(&call, &left);
    if (left)
        set_node(&call, 0);
    return rc || left ? rc : lock_pass_on(&call);
}
