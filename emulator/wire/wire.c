/* SPDX-License-Identifier: BSD-3-Clause */
/* Lands segments at their due times, from the threads that poll and from the engine thread. */
#include "emulator/wire/wire.h"

#include "emulator/wire/cut.h"
#include "emulator/fabric/futex.h"
#include "emulator/fabric/service.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#define PUMP_BURST 64
#define IDLE_NS 1000000000ull
/* While the process polls, it lands its segments itself: the engine leaves it this much time. */
#define POLLER_NS 2000000ull
#define POLLER_GRACE_NS 100000ull
/* Replay mode: nothing lands before the process has polled in vain so often and so long, or been away so long. */
#define REPLAY_POLLS 128
#define REPLAY_QUIET_NS 1000000ull
#define REPLAY_AWAY_NS 100000000ull

static pthread_mutex_t heap_mutex = PTHREAD_MUTEX_INITIALIZER; /* heap, and all that cut.c knows */
static pthread_mutex_t pump_mutex = PTHREAD_MUTEX_INITIALIZER; /* landing; taken before heap_mutex */
static struct emu_heap heap;
static _Atomic uint64_t events;      /* replay mode's clock, in ns */
static _Atomic uint64_t last_active; /* the process's last post or poll, real time */
static _Atomic uint64_t last_busy;   /* its last post, or poll that found something */
static _Atomic uint32_t vain_polls;  /* since then */
static _Atomic uint64_t engine_sleeps_until;
static _Atomic uint32_t engine_wakeup;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int start_result;

uint64_t emu_wire_now(void)
{
    if (emu.settings.replay)
        return atomic_load_explicit(&events, memory_order_relaxed);
    return emu_now_ns() - emu.job->start_ns;
}

bool emu_wire_refuses(struct emu_qp *qp)
{
    bool refuses;

    if (!emu.settings.faults.nrules)
        return false;
    pthread_mutex_lock(&heap_mutex);
    refuses = emu_cut_refuses(qp, emu_wire_now());
    pthread_mutex_unlock(&heap_mutex);
    return refuses;
}

void emu_wire_busy(void)
{
    uint64_t now;

    if (!emu.settings.replay)
        return;
    now = emu_now_ns();
    atomic_store_explicit(&last_active, now, memory_order_relaxed);
    atomic_store_explicit(&last_busy, now, memory_order_relaxed);
    atomic_store_explicit(&vain_polls, 0, memory_order_relaxed);
}

static void wake_engine(uint64_t due)
{
    uint64_t until = atomic_load_explicit(&engine_sleeps_until, memory_order_relaxed);

    if (due + POLLER_GRACE_NS / 2 >= until)
        return;
    /* release: pairs with the engine's acquire; it then looks into the heap under its mutex */
    atomic_fetch_add_explicit(&engine_wakeup, 1, memory_order_release);
    emu_futex_wake(&engine_wakeup);
}

static uint64_t replay_grace(void)
{
    uint64_t polled = atomic_load_explicit(&last_active, memory_order_relaxed);

    return emu_now_ns() - polled < POLLER_NS ? POLLER_GRACE_NS : 0;
}

void emu_wire_post(struct emu_op *ops)
{
    uint64_t due = UINT64_MAX;

    emu_wire_busy();
    pthread_mutex_lock(&heap_mutex);
    while (ops) {
        struct emu_op *op = ops;

        ops = op->next;
        emu_cut(op, emu_wire_now(), &heap);
    }
    if (heap.n)
        due = heap.at[0].due;
    pthread_mutex_unlock(&heap_mutex);
    if (!emu.settings.replay && due != UINT64_MAX)
        wake_engine(due + emu.job->start_ns + replay_grace());
}

/* With pump_mutex: lands the next segment if it is due by `until`; false if none is. */
static bool land_next(uint64_t until)
{
    struct emu_segment segment;
    uint64_t again;
    bool due;

    pthread_mutex_lock(&heap_mutex);
    due = heap.n && heap.at[0].due <= until;
    if (due)
        segment = emu_heap_pop(&heap);
    pthread_mutex_unlock(&heap_mutex);
    if (!due)
        return false;
    if (emu.settings.replay && segment.due > atomic_load_explicit(&events, memory_order_relaxed))
        atomic_store_explicit(&events, segment.due, memory_order_relaxed);
    again = emu_segment_land(&segment, emu_wire_now());
    if (!again)
        return true;
    segment.due = again;
    pthread_mutex_lock(&heap_mutex);
    emu_heap_push(&heap, segment);
    pthread_mutex_unlock(&heap_mutex);
    return true;
}

/* Replay mode, with pump_mutex: lands all segments in flight in the order of due times; those that must wait stay. */
static void heap_flush(void)
{
    size_t n;

    pthread_mutex_lock(&heap_mutex);
    n = heap.n;
    pthread_mutex_unlock(&heap_mutex);
    while (n-- && land_next(UINT64_MAX))
        continue;
    pthread_mutex_lock(&heap_mutex);
    emu_cut_restart();
    pthread_mutex_unlock(&heap_mutex);
    emu_wire_busy();
}

/* With pump_mutex. */
static void land_some(void)
{
    if (emu.settings.replay)
        heap_flush();
    else
        for (unsigned landed = 0; landed < PUMP_BURST && land_next(emu_wire_now()); landed++)
            continue;
}

static bool process_waits(void)
{
    uint64_t now = emu_now_ns();
    uint32_t polls = atomic_fetch_add_explicit(&vain_polls, 1, memory_order_relaxed);

    sched_yield();
    return polls >= REPLAY_POLLS &&
           now - atomic_load_explicit(&last_busy, memory_order_relaxed) > REPLAY_QUIET_NS;
}

static bool process_is_away(void)
{
    return emu_now_ns() - atomic_load_explicit(&last_active, memory_order_relaxed) > REPLAY_AWAY_NS;
}

void emu_wire_pump(void)
{
    atomic_store_explicit(&last_active, emu_now_ns(), memory_order_relaxed);
    if (emu.settings.replay && !process_waits())
        return;
    if (pthread_mutex_trylock(&pump_mutex))
        return;
    land_some();
    pthread_mutex_unlock(&pump_mutex);
}

void emu_wire_cancel(struct emu_qp *qp)
{
    pthread_mutex_lock(&pump_mutex);
    pthread_mutex_lock(&heap_mutex);
    emu_heap_drop(&heap, qp);
    pthread_mutex_unlock(&heap_mutex);
    pthread_mutex_unlock(&pump_mutex);
}

/* Until when the engine may sleep, in real time. In replay mode it only looks whether the process is away. */
static uint64_t next_wake(void)
{
    uint64_t wake = emu_now_ns() + (emu.settings.replay ? REPLAY_AWAY_NS / 10 : IDLE_NS);

    pthread_mutex_lock(&heap_mutex);
    if (heap.n && emu.settings.replay && process_is_away())
        wake = 0;
    else if (heap.n && !emu.settings.replay)
        wake = heap.at[0].due + emu.job->start_ns + replay_grace();
    atomic_store_explicit(&engine_sleeps_until, wake, memory_order_relaxed);
    pthread_mutex_unlock(&heap_mutex);
    return wake;
}

static void *engine(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "efa-emu-wire");
    for (;;) {
        /* acquire: pairs with wake_engine's release */
        uint32_t wakeup = atomic_load_explicit(&engine_wakeup, memory_order_acquire);
        uint64_t wake = next_wake(), now = emu_now_ns();

        if (wake > now) {
            emu_futex_wait(&engine_wakeup, wakeup, wake - now);
            continue;
        }
        pthread_mutex_lock(&pump_mutex);
        land_some();
        pthread_mutex_unlock(&pump_mutex);
        sched_yield();
    }
    return NULL;
}

/* Without the program's signals. Of a thread that blocks those of faults nobody hears where it crashed. */
int emu_thread_start(void *(*body)(void *))
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t others, before;
    pthread_t thread;
    int rc;

    sigfillset(&others);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&others, faults[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    rc = pthread_create(&thread, NULL, body, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!rc)
        pthread_detach(thread);
    return -rc;
}

static void engine_start(void)
{
    emu_cut_init();
    start_result = emu_thread_start(engine);
    if (!start_result)
        start_result = emu_thread_start(emu_service);
}

int emu_wire_start(void)
{
    pthread_once(&once, engine_start);
    return start_result;
}
