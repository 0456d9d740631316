/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals, around a call into a library that may start threads: they inherit the mask, so the program's handlers run in
 * its own threads alone. A handler that ran in PMIx's thread and ended the job would wait for that thread.
 */
#ifndef WSH_BASE_SIGNALS_H
#define WSH_BASE_SIGNALS_H

#include <signal.h>
#include <stddef.h>

/* Blocks all in this thread; *before is for wsh_signals_restore. Calls may nest. */
static inline void wsh_signals_block(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static inline void wsh_signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
