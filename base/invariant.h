/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules that hold whatever a program or a peer does, checked where the library is built by configure --enable-debug. A
 * broken one ends the job with one line. What a program, a peer or the machine may get wrong is an error (err.h).
 */
#ifndef WSH_BASE_INVARIANT_H
#define WSH_BASE_INVARIANT_H

#ifdef WSH_DEBUG
#include "base/err.h"
#include "base/log.h"

#include <stdio.h>

/* By any thread, with any lock. */
static inline _Noreturn __attribute__((cold, unused)) void wsh_invariant_broken(const char *file, int line,
                                                                                const char *condition)
{
    char text[512];

    snprintf(text, sizeof text, "%s:%d: does not hold: %s: this is a fault of warpshmem: please report it",
             file, line, condition);
    wsh_log_signal_safe(text);
    wsh_abort(1);
}

#define WSH_INVARIANT(condition) \
    ((condition) ? (void)0 : wsh_invariant_broken(__FILE__, __LINE__, #condition))
#else
/* Not evaluated. */
#define WSH_INVARIANT(condition) ((void)(0 && (condition)))
#endif

#endif
