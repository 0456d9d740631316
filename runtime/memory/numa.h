/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of this PE on the NUMA node of its processors. */
#ifndef WSH_NUMA_H
#define WSH_NUMA_H

#include "base/env/env.h"

#include <stddef.h>

/*
 * Asks the system to take [base, base + len), whose pages nobody has touched, from the NUMA node of this process, or
 * from others where that has none left. Nothing is asked where the machine has one node, or where the process may run
 * on several: a page then comes from the node of the PE that allocates it. What was done is an info message. 0, or the
 * logged error of a SHMEM_TOPOLOGY that cannot be read.
 */
int wsh_numa_prefer(void *base, size_t len, const struct wsh_env *env);

#endif
