/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records in which routine of the CUDA driver each thread is, because a thread that is blocked there cannot report it
 * itself. Marking a call costs two stores; another thread that looks now and then finds how long a call has lasted.
 */
#ifndef WSH_BASE_CUDA_CALL_H
#define WSH_BASE_CUDA_CALL_H

#include "base/cuda/cuda.h"

#include <sys/types.h>

/* The routines by number; 0: none. */
enum wsh_cuda_id {
    WSH_CUDA_ID_none,
#define WSH_CUDA(field, name, args) WSH_CUDA_ID_##field,
#include "base/cuda/cuda_defs.h"
#undef WSH_CUDA
    WSH_CUDA_IDS
};

/* What a thread is for: the program's, unless it says otherwise. */
enum wsh_cuda_role { WSH_CUDA_PROGRAM, WSH_CUDA_PROGRESS, WSH_CUDA_PROXY };

/* A thread that has called the driver. All accesses are relaxed: a reader looks again before it acts. */
struct wsh_cuda_thread {
    uint64_t word; /* calls begun << 8 | the one it is in; stored by the thread alone */
    pid_t tid;     /* 0: the entry is free */
    enum wsh_cuda_role role;
    uint64_t seen;   /* the word as wsh_cuda_calls_check last read it */
    unsigned ms;     /* how long it has been in the same call of the driver */
    unsigned due_ms; /* after how long without a change the call is reported */
} __attribute__((aligned(64)));

extern __thread struct wsh_cuda_thread *wsh_cuda_thread;

/* An entry for this thread; if all are taken, one that no other thread looks at. */
struct wsh_cuda_thread *wsh_cuda_thread_take(void);

static inline void wsh_cuda_begin(enum wsh_cuda_id id)
{
    struct wsh_cuda_thread *my = wsh_cuda_thread ? wsh_cuda_thread : wsh_cuda_thread_take();
    uint64_t word = __atomic_load_n(&my->word, __ATOMIC_RELAXED);

    __atomic_store_n(&my->word, (word & ~(uint64_t)255) + 256 + id, __ATOMIC_RELAXED);
}

static inline int wsh_cuda_end(int status)
{
    uint64_t word = __atomic_load_n(&wsh_cuda_thread->word, __ATOMIC_RELAXED);

    __atomic_store_n(&wsh_cuda_thread->word, word & ~(uint64_t)255, __ATOMIC_RELAXED);
    return status;
}

/* Calls a routine of the driver, marked so that other threads see it; its status. */
#define wsh_cuda_call(field, ...) \
    (wsh_cuda_begin(WSH_CUDA_ID_##field), wsh_cuda_end(wsh_cuda()->field(__VA_ARGS__)))

/* What this thread is for. */
void wsh_cuda_call_role(enum wsh_cuda_role role);

/* A call that has not returned. */
struct wsh_cuda_stay {
    pid_t tid;
    enum wsh_cuda_role role;
    char name[48]; /* as the driver's documentation has it */
    double seconds;
};

/*
 * look examines all threads, `passed` seconds after the last look. due returns true if a thread has been in the
 * same call for `limit` seconds, and describes that call in *stay; if there are several, the next call describes
 * the next one. Each is reported again after three times as long. One caller at a time.
 */
void wsh_cuda_calls_check(double passed);
bool wsh_cuda_calls_due(double limit, struct wsh_cuda_stay *stay);

/* Describes the call that thread `tid` is in, or with tid 0 the one that has lasted longest. False: there is none. */
bool wsh_cuda_call_find(pid_t tid, struct wsh_cuda_stay *stay);

#endif
