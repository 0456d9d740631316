/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine: one thread of a process that is the device's side of all its queues in memory. */
#include "emulator/queues/queues.h"

#include "emulator/fabric/futex.h"
#include "emulator/fabric/service.h"
#include "emulator/say.h"
#include "emulator/wire/wire.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/*
 * Doorbells cannot wake anybody: the engine looks often after some work, and more seldom without. It sleeps and does
 * not yield, since who polls memory spins: the scheduler lets one that wakes up go first, and one that yields last.
 */
#define PASSES_BEFORE_LONG_SLEEP 400
#define SLEEP_NS 10000ull
#define LONG_SLEEP_NS 200000ull

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* the lists, and all that the engine looks at */
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static _Atomic unsigned waiting; /* for the mutex, which the engine would else take again at once */
static struct emu_rings *rings_first;
static struct emu_cq_memory *memory_first;
static bool started;
static _Atomic uint64_t violations[EMU_VIOLATION_KINDS];

void emu_queues_lock(void)
{
    atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
    pthread_mutex_lock(&mutex);
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
}

void emu_queues_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

void emu_violation_say(enum emu_violation violation, uint32_t nic, const char *queue, uint32_t number)
{
    atomic_fetch_add_explicit(&violations[violation], 1, memory_order_relaxed);
    emu_say("process %d, %s, %s %u: %s", emu.mine->rank, emu.settings.nic[nic].name, queue, number,
            emu_violation_text(violation));
}

uint64_t emu_violations(enum emu_violation violation)
{
    return atomic_load_explicit(&violations[violation], memory_order_relaxed);
}

static bool pass(void)
{
    bool busy = false;

    for (struct emu_rings *rings = rings_first; rings; rings = rings->next)
        busy |= emu_rings_serve(rings);
    emu_wire_pump();
    for (struct emu_cq_memory *memory = memory_first; memory; memory = memory->next)
        busy |= emu_cq_memory_serve(memory);
    busy |= emu_counters_serve();
    if (busy)
        emu_wire_busy();
    return busy;
}

/* Completions wake it. */
static void engine_rest(unsigned idle, uint32_t wakeup)
{
    struct emu_region *mine = emu.mine;

    atomic_store_explicit(&mine->queue_sleeps, 1, memory_order_relaxed);
    emu_futex_wait(&mine->queue_wakeup, wakeup, idle < PASSES_BEFORE_LONG_SLEEP ? SLEEP_NS : LONG_SLEEP_NS);
    atomic_store_explicit(&mine->queue_sleeps, 0, memory_order_relaxed);
}

static void *engine(void *unused)
{
    unsigned idle = 0;

    (void)unused;
    pthread_setname_np(pthread_self(), "efa-emu-queues");
    prctl(PR_SET_TIMERSLACK, 1);
    for (;;) {
        /* acquire: pairs with the release of emu_region_wake_engine */
        uint32_t wakeup = atomic_load_explicit(&emu.mine->queue_wakeup, memory_order_acquire);

        while (atomic_load_explicit(&waiting, memory_order_relaxed))
            sched_yield();
        pthread_mutex_lock(&mutex);
        while (!rings_first && !memory_first && !emu_counters_there())
            pthread_cond_wait(&some, &mutex);
        idle = pass() ? 0 : idle + 1;
        pthread_mutex_unlock(&mutex);
        if (idle)
            engine_rest(idle, wakeup);
    }
    return NULL;
}

int emu_engine_start(void)
{
    int rc = started ? 0 : emu_thread_start(engine);

    started |= !rc;
    pthread_cond_signal(&some);
    return rc;
}

int emu_rings_open(struct emu_qp *qp)
{
    struct emu_rings *rings;
    int error;

    if (qp->rings)
        return 0;
    rings = calloc(1, sizeof *rings);
    if (!rings)
        return ENOMEM;
    rings->qp = qp;
    error = emu_rings_map(rings);
    if (error) {
        free(rings);
        return error;
    }
    emu_queues_lock();
    error = -emu_engine_start();
    qp->rings = rings;
    rings->next = rings_first;
    rings_first = rings;
    emu_queues_unlock();
    return error;
}

void emu_rings_close(struct emu_qp *qp)
{
    struct emu_rings *rings = qp->rings, **at = &rings_first;

    emu_queues_lock();
    atomic_store_explicit(&qp->context->qp[qp->qpn], NULL, memory_order_relaxed); /* the lock publishes it */
    emu_counters_forget(qp);
    if (!rings) {
        emu_queues_unlock();
        return;
    }
    while (*at != rings)
        at = &(*at)->next;
    *at = rings->next;
    if (!rings->broken && emu_ring_unrung(&rings->sq))
        emu_violation_say(EMU_WRONG_LEFT, qp->context->nic, "queue pair", qp->qpn);
    if (qp->send_cq->memory)
        emu_cq_memory_forget(qp->send_cq->memory, qp->qpn);
    if (((struct emu_cq *)qp->ibv.recv_cq)->memory && qp->ibv.recv_cq != qp->ibv.send_cq)
        emu_cq_memory_forget(((struct emu_cq *)qp->ibv.recv_cq)->memory, qp->qpn);
    emu_queues_unlock();
}

void emu_rings_free(struct emu_qp *qp)
{
    if (!qp->rings)
        return;
    munmap(qp->rings->mapping, qp->rings->mapping_bytes);
    free(qp->rings);
}

int emu_cq_memory_open(struct emu_cq *cq, const struct emu_cq_location *location)
{
    struct emu_cq_memory *memory;
    int error;

    if (cq->memory)
        return 0;
    memory = calloc(1, sizeof *memory);
    if (!memory)
        return ENOMEM;
    memory->cq = cq;
    memory->entries = cq->shared->mask + 1;
    error = emu_cq_memory_map(memory, location);
    if (error) {
        free(memory);
        return error;
    }
    emu_queues_lock();
    error = -emu_engine_start();
    memory->next = memory_first;
    memory_first = memory;
    cq->memory = memory;
    atomic_store_explicit(&cq->shared->in_memory, 1, memory_order_relaxed);
    emu_queues_unlock();
    return error;
}

void emu_cq_memory_close(struct emu_cq *cq)
{
    struct emu_cq_memory *memory = cq->memory, **at = &memory_first;

    if (!memory)
        return;
    emu_queues_lock();
    while (*at != memory)
        at = &(*at)->next;
    *at = memory->next;
    emu_queues_unlock();
    emu_cq_memory_unmap(memory);
    free(memory);
}
