/* SPDX-License-Identifier: BSD-3-Clause */
/* A job in PMIx's words: its size, its hosts and the place of each PE. */
#ifndef WSH_OSHRUN_PMIX_JOB_H
#define WSH_OSHRUN_PMIX_JOB_H

#include <pmix.h>

struct wsh_pmix_job {
    pmix_info_t *info;
    size_t n_info;
};

/*
 * Describes `n_pes` PEs on this host. `n_nodes` > 1: each PE's record says the emulated host (NODEID) and its place
 * there, while to libpmix, which knows one host, all stay local. Free with _fini, also after a failure.
 */
pmix_status_t wsh_pmix_job_init(struct wsh_pmix_job *job, const char *nspace, int n_pes, int n_nodes);
void wsh_pmix_job_fini(struct wsh_pmix_job *job);

#endif
