/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE that crashes says before it ends by the signal as it would have: SHMEM_BACKTRACE. */
#ifndef WSH_JOB_CRASH_H
#define WSH_JOB_CRASH_H

#include "runtime/job/job.h"

/*
 * From here on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT are noted for oshrun, or printed where it does not start the
 * PE. Signals that the program, a sanitizer or an interpreter handles are left to them. 0.
 */
int wsh_crash_open(struct wsh_job *job);
void wsh_crash_close(struct wsh_job *job);

#endif
