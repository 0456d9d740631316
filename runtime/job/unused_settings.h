/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings that were given and change nothing in this job. */
#ifndef WSH_UNUSED_H
#define WSH_UNUSED_H

struct wsh_job;

/* At the end of shmem_init: warns of each, on PE 0. */
void wsh_unused_warn(const struct wsh_job *job);

#endif
