/* SPDX-License-Identifier: BSD-3-Clause */
/* Finishes something when the process exits with status 0, within a limit of time, or else says that it leaves. */
#ifndef WSH_AT_EXIT_H
#define WSH_AT_EXIT_H

#include <stdbool.h>

/*
 * `finish` runs when this process has exited with status 0 and every exit handler and destructor of the program is
 * through; NULL: nothing does. It runs in a thread of its own, which the process leaves behind after
 * WSH_AT_EXIT_SECONDS: `finish` may wait for what never comes, or for a lock that the thread that exits holds. Where it
 * does not return true by then, `leave` runs in the thread that exits.
 */
#define WSH_AT_EXIT_SECONDS 2
void wsh_at_exit(bool (*finish)(void), void (*leave)(void));

#endif
