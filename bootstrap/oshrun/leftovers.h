/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows what a PE that died at a bad moment can leave behind on the machine. */
#ifndef WSH_OSHRUN_LEFTOVERS_H
#define WSH_OSHRUN_LEFTOVERS_H

#include <sys/types.h>

/* Removes the files of the dead processes pids[0..n) (0 = none); reports nothing. */
void wsh_leftovers_remove(const pid_t *pids, int n);

#endif
