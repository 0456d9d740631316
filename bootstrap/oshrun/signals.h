/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows which signals oshrun takes, and how they reach its loop. */
#ifndef WSH_OSHRUN_SIGNALS_H
#define WSH_OSHRUN_SIGNALS_H

#include <signal.h>

/*
 * Blocks SIGCHLD and the signals that are passed on to the PEs (but none that oshrun was started with ignored, as
 * by nohup), and ignores SIGPIPE, SIGTTIN and SIGTTOU. To be called before there are threads. Returns a descriptor
 * for wsh_signals_next, or -errno after one line; *before is the signal mask oshrun was started with.
 */
int wsh_signals_open(sigset_t *before);

/* The next signal that came, or 0. */
int wsh_signals_next(int fd);

/* In a new PE: undoes what wsh_signals_open ignores. Async-signal-safe. */
void wsh_signals_default(void);

#endif
