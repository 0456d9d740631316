/* SPDX-License-Identifier: BSD-3-Clause */
/* When another launcher must start the job, and which: jobs inside jobs, -H and --hostfile, Slurm allocations. */
#ifndef WSH_OSHRUN_DELEGATE_H
#define WSH_OSHRUN_DELEGATE_H

#include "bootstrap/oshrun/args.h"

#include <stdbool.h>

/* The hosts that the user names with -H or --hostfile. */
struct wsh_host {
    char *name;
    int slots; /* PEs on it; 0 = not said */
};

struct wsh_hosts {
    struct wsh_host *host;
    int n;
};

/*
 * Runs srun, prterun or mpirun where the job has other hosts or a Slurm allocation is there: *ran, and returns its exit
 * status. Else returns 0 where this machine is to do it, or an exit status after one line (already inside a job, no
 * launcher, an option that the launcher lacks).
 */
int wsh_delegate(const struct wsh_args *args, bool *ran);

#endif
