/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of internode in which the host makes the calls: the same puts, and alltoall. */
#ifndef PERFTEST_DEVICE_INTER_HOST_CUH
#define PERFTEST_DEVICE_INTER_HOST_CUH

#include "perftest/device/inter_grid.cuh"

#include <time.h>

static double inter_now()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void inter_host_push(const struct inter_args &a, bool blocking)
{
    for (size_t k = 0; k < a.window; k++) {
        PERF_ONE(putmem_nbi)(a.dest + k * a.len, a.source + k * a.len, a.len, a.peer);
        if (blocking)
            PERF_ONE(quiet)();
    }
    if (!blocking)
        PERF_ONE(quiet)();
}

static void inter_host_put_signal(const struct inter_args &a, uint64_t number)
{
    uint64_t *flags = a.flag + number % 2 * INTER_BATCH;
    char *dest = a.dest + number % 2 * a.half + a.me * a.len;

    for (int i = 1; i <= a.npes; i++) {
        int to = (a.me + i) % a.npes;

        PERF_ONE(putmem_signal_nbi)(dest, a.source + to * a.len, a.len, flags + a.me, number, PERF_SIGNAL_SET, to);
    }
    for (int from = 0; from < a.npes; from++)
        PERF_ONE(signal_wait_until)(flags + from, PERF_GE, number);
}

/* us of all iterations. */
static double inter_host_run(const struct inter_args &a, enum inter_what what)
{
    double begin = inter_now();

    for (uint64_t number = a.first + 1; number <= a.first + (uint64_t)a.n; number++) {
        if (what == INTER_ALLTOALL)
            PERF_ONE(alltoallmem)(PERF_TEAM, a.dest + number % 2 * a.half, a.source, a.len);
        else if (what == INTER_ALLTOALL_PUT_SIGNAL)
            inter_host_put_signal(a, number);
        else
            inter_host_push(a, what == INTER_PUT_BLOCKING);
    }
    if (what == INTER_ALLTOALL_PUT_SIGNAL)
        PERF_ONE(quiet)();
    return inter_now() - begin;
}

#endif
