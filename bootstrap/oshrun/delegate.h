/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows when another launcher must start the job, which one, and how it spells our options. */
#ifndef WSH_OSHRUN_DELEGATE_H
#define WSH_OSHRUN_DELEGATE_H

#include "bootstrap/oshrun/args.h"

/*
 * Replaces this process by srun, prterun or mpirun where the job has other hosts or a Slurm allocation is there.
 * Returns 0 where this machine is to do it; else an exit status after one line (already inside a job, no launcher,
 * an option that the launcher lacks).
 */
int wsh_delegate(const struct wsh_args *args);

#endif
