/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every test of device code needs: a GPU for this PE, symmetric device memory, cases of at most 20 s each
 * whose results are printed at once, checks made inside kernels, and names of routines by scope. Each source is one
 * program with one shmem_init; its head says over which paths test/run sends it.
 */
#ifndef WSH_TEST_DEV_CUH
#define WSH_TEST_DEV_CUH

#include <shmemx.h>

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn

#include <stdio.h>

enum { THREAD, WARP, BLOCK, SCOPES };
static const char *const dev_scope_name[SCOPES] = {"thread", "warp", "block"};
static const unsigned dev_threads[SCOPES] = {1, 32, 256};

/* dev_<name><SCOPE>(…): shmem_<name>, _warp or _block. */
#define DEV_SCOPED(name)                                              \
    template <int S, class... ARGS> __device__ auto dev_##name(ARGS... args) \
    {                                                                 \
        if constexpr (S == THREAD)                                    \
            return shmem_##name(args...);                             \
        else if constexpr (S == WARP)                                 \
            return shmem_##name##_warp(args...);                      \
        else                                                          \
            return shmem_##name##_block(args...);                     \
    }

/* Runs a statement three times, with S = THREAD, WARP, BLOCK as a constant. */
#define DEV_EACH_SCOPE(...)      \
    do {                         \
        {                        \
            constexpr int S = THREAD; \
            __VA_ARGS__;         \
        }                        \
        {                        \
            constexpr int S = WARP; \
            __VA_ARGS__;         \
        }                        \
        {                        \
            constexpr int S = BLOCK; \
            __VA_ARGS__;         \
        }                        \
    } while (0)

/* What kernels found wrong: how often, and the first time. In memory of both sides. */
struct dev_report {
    unsigned wrong;
    unsigned long long where, expected, got;
};

static __device__ void dev_expect(struct dev_report *report, unsigned long long where, unsigned long long expected,
                                  unsigned long long got)
{
    if (expected != got && atomicAdd(&report->wrong, 1u) == 0) {
        report->where = where;
        report->expected = expected;
        report->got = got;
    }
}


void dev_begin(void);
int dev_end(void);

/* Begins a case: the limit runs anew. All PEs. */
void dev_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Zeroed symmetric device memory, of the device heap or, with WSH_DEV_MEMORY=registered, of a registered allocation;
 * ends the test without it. Collective.
 */
void *dev_alloc(size_t len);

/* Zeroed memory that host and GPU read and write; dev_share_end frees all of it. */
void *dev_share(size_t len);

/* The path leads to PEs that this GPU reaches by the proxy alone: what is many rounds elsewhere takes long there. */
bool dev_has_other_hosts(void);

/* A kind of litmus test is to be run: WSH_LITMUS_KINDS names it, or none. */
bool dev_litmus_wants(const char *kind);

/* Waits for the GPU; false, after a failed check, when it says no. */
bool dev_wait(void);

/* Copies between host and device memory. */
void dev_upload(void *dev, const void *host, size_t len);
void dev_download(void *host, const void *dev, size_t len);

/* Fails the test if kernels reported anything; clears the report. */
void dev_check_report(struct dev_report *report, const char *what);

#endif
