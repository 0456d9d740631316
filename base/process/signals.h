/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals, around the start of a thread or a call into a library that may start some: they inherit the mask, so the
 * program's handlers run in its own threads alone. A handler that ran in PMIx's thread and ended the job would wait for
 * that thread. Those of faults stay: while one is blocked the kernel ends the process without any handler, and nobody
 * reads where it crashed.
 */
#ifndef WSH_BASE_SIGNALS_H
#define WSH_BASE_SIGNALS_H

#include <signal.h>
#include <stddef.h>

/* Blocks all others in this thread; *before is for wsh_signals_restore. Calls may nest. */
static inline void wsh_signals_block(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t others;

    sigfillset(&others);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&others, faults[i]);
    pthread_sigmask(SIG_SETMASK, &others, before);
}

static inline void wsh_signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
