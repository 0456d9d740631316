/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows whether oshrun was called inside a running job. */
#ifndef WSH_OSHRUN_NESTING_H
#define WSH_OSHRUN_NESTING_H

#include <stdbool.h>

/* 0, or OSHRUN_USAGE after one line where this process is itself part of a job that a launcher started. */
int wsh_nesting_refuse(void);

/* Inside a Slurm allocation (which is not inside a step of it: that is nesting). */
bool wsh_in_allocation(void);

#endif
