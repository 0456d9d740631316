/* SPDX-License-Identifier: BSD-3-Clause */
/* What most likely killed a PE: lack of memory, or a limit; and how to see where it crashed. */
#ifndef WSH_OSHRUN_CAUSE_H
#define WSH_OSHRUN_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * `text`: the cause of signal `sig` and its cure, as the end of a sentence, or "". The limits are those that PEs have
 * from oshrun; `kills`: processes of this cgroup that the kernel had killed for lack of memory before the job;
 * `noted`: the PE has noted where it crashed.
 */
void wsh_cause_print(int sig, long kills, bool noted, char *text, size_t size);

#endif
