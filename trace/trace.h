/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of routines (made by make-wrappers) call. */
#ifndef WSH_TRACE_H
#define WSH_TRACE_H

#include "trace/format.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Wrappers have names that generic.h makes macros of. */
#define WSH_NO_GENERIC
#include <pshmem.h>
#include <shmemx.h>
#include <shmemx_ep.h>

enum wsh_trace_routine {
#define WSH_TRACE_ROUTINE(name, kind) WSH_TRACE_##name,
#include "trace/names.h"
#undef WSH_TRACE_ROUTINE
    WSH_TRACE_ROUTINES
};

static inline uint64_t wsh_trace_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#ifdef __x86_64__
extern bool wsh_trace_tsc; /* the processor's counter runs at one speed, and also while it sleeps */
#endif

/* The processor's counter, which merging maps to ns by two readings of both. */
static inline uint64_t wsh_trace_ticks(void)
{
#ifdef __x86_64__
    return wsh_trace_tsc ? __builtin_ia32_rdtsc() : wsh_trace_ns();
#elif defined __aarch64__
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return wsh_trace_ns();
#endif
}

/*
 * The library's routine of this name. It is looked up when it is first called, not bound: this library is preloaded
 * into scripts and tools too, and into interpreters, which load libwarpshmem later. A line ends a process that lacks
 * it: `missing`.
 */
void *wsh_trace_library(const char *name);
_Noreturn void wsh_trace_missing(const char *name);
#define WSH_LIBRARY(name) ((__typeof__(&name))wsh_trace_library(#name))

/* The same of an extension, which has no other name: the next library's; NULL where there is none. */
void *wsh_trace_extension(const char *name);
#define WSH_EXTENSION(name) ((__typeof__(&name))wsh_trace_extension(#name))

const char *wsh_trace_name(enum wsh_trace_routine routine);

extern void *wsh_trace_next[]; /* by routine; NULL: not looked up. Relaxed: all threads find the same */
void *wsh_trace_look_up(enum wsh_trace_routine routine);

static inline void *wsh_trace_routine_of(enum wsh_trace_routine routine)
{
    void *next = __atomic_load_n(&wsh_trace_next[routine], __ATOMIC_RELAXED);

    return __builtin_expect(!next, 0) ? wsh_trace_look_up(routine) : next;
}
#define WSH_TRACE_CALL(name) ((__typeof__(&name))wsh_trace_routine_of(WSH_TRACE_##name))

extern bool wsh_trace_nvtx; /* calls are NVTX ranges */
void wsh_trace_nvtx_push(const char *name);
void wsh_trace_nvtx_pop(void);

/* A call begins: the ticks. */
static inline uint64_t wsh_trace_begin(enum wsh_trace_routine routine)
{
    if (__builtin_expect(wsh_trace_nvtx, 0))
        wsh_trace_nvtx_push(wsh_trace_name(routine));
    return wsh_trace_ticks();
}

/* A number for a context: 0 is the default one. */
static inline unsigned wsh_trace_ctx(shmem_ctx_t ctx)
{
    return ctx == SHMEM_CTX_DEFAULT ? 0 : (unsigned)((uintptr_t)ctx >> 4 & 0x7fff) + 1;
}

/* Notes a call of `routine` that began at `start` and has just ended. */
void wsh_trace_add(uint64_t start, enum wsh_trace_routine routine, int pe, uint64_t bytes, unsigned ctx);
/* … and the signal that it has sent, … */
void wsh_trace_signal(uint64_t start, enum wsh_trace_routine routine, int pe, const void *word,
                      uint64_t value, bool adds);
/* … or has waited for, with the value that ended the wait. */
void wsh_trace_waited(uint64_t start, enum wsh_trace_routine routine, const void *word, uint64_t value);

#endif
