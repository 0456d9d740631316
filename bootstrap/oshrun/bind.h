/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows which processors each PE is bound to (--bind). */
#ifndef WSH_OSHRUN_BIND_H
#define WSH_OSHRUN_BIND_H

#include "bootstrap/oshrun/args.h"

#include <sched.h>

/*
 * One set of processors a PE, malloc'd; *sets is NULL with WSH_BIND_NONE. Only processors that oshrun itself may use
 * count. With at least as many cores (sockets, …) as PEs each has one of its own, in order; else neighbours share.
 * 0, or -errno after one line.
 */
int wsh_bind_plan(enum wsh_bind bind, int n_pes, cpu_set_t **sets);

#endif
