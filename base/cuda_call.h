/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows in which routine of the CUDA driver a thread is: one that waits there for a kernel, or for a call of the
 * program that does, says nothing itself. Marking a call costs two stores; how long it takes is found by another
 * thread's looks.
 */
#ifndef WSH_BASE_CUDA_CALL_H
#define WSH_BASE_CUDA_CALL_H

#include "base/cuda.h"

#include <sys/types.h>

/* The routines by number; 0: none. */
enum wsh_cuda_id {
    WSH_CUDA_ID_none,
#define WSH_CUDA(field, name, args) WSH_CUDA_ID_##field,
#include "base/cuda_defs.h"
#undef WSH_CUDA
    WSH_CUDA_IDS
};

/* Whose thread: the program's, as long as it says nothing. */
enum wsh_cuda_role { WSH_CUDA_PROGRAM, WSH_CUDA_PROGRESS, WSH_CUDA_PROXY };

/* A thread that has called the driver; all relaxed: what others find here is looked at again. */
struct wsh_cuda_thread {
    uint64_t word; /* calls begun << 8 | the one it is in; stored by the thread alone */
    pid_t tid;     /* 0: nobody's */
    enum wsh_cuda_role role;
    uint64_t seen;   /* wsh_cuda_calls_look's: the word then … */
    unsigned ms;     /* … which has not changed for so long, in a call … */
    unsigned due_ms; /* … and is to be told of after so long */
} __attribute__((aligned(64)));

extern __thread struct wsh_cuda_thread *wsh_cuda_thread;

/* This thread's from now on; where there are very many, one that is looked at by nobody. */
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

/* The status of a routine, and others see that this thread is in it. */
#define wsh_cuda_call(field, ...) \
    (wsh_cuda_begin(WSH_CUDA_ID_##field), wsh_cuda_end(wsh_cuda()->field(__VA_ARGS__)))

/* What this thread is for. */
void wsh_cuda_call_role(enum wsh_cuda_role role);

/* A call that is under way. */
struct wsh_cuda_stay {
    pid_t tid;
    enum wsh_cuda_role role;
    char name[48]; /* as the driver's documentation has it */
    double seconds;
};

/*
 * look: at all threads, `passed` seconds after the last look. due: one, *stay, has been in the same call for `limit`
 * seconds; of several such the next call tells the next; each again after three times as long. One caller at a time.
 */
void wsh_cuda_calls_look(double passed);
bool wsh_cuda_calls_due(double limit, struct wsh_cuda_stay *stay);

/* The call that thread `tid`, or where that is 0 whichever has been in one for longest, is in now. False: none. */
bool wsh_cuda_call_find(pid_t tid, struct wsh_cuda_stay *stay);

#endif
