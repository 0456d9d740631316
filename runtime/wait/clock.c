/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the clock. */
#include "runtime/wait/clock.h"

#include <time.h>

double wsh_wait_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}
