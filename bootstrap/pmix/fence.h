/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for other PEs through PMIx, where oshrun can learn who waits in what. */
#ifndef WSH_BOOTSTRAP_FENCE_PMIX_H
#define WSH_BOOTSTRAP_FENCE_PMIX_H

#include <pmix.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Before the first fence. `waits`: the server completes one without data only when all hosts have come to it.
 */
void wsh_fence_pmix_open(const pmix_proc_t *me, bool waits, double hang_seconds);

/*
 * Waits for the `n` processes at `procs`, or for all PEs (NULL, 0), and with `collect` for what they committed.
 * `where`: the event that says so. 0 or -EIO after one line.
 */
int wsh_fence_pmix(const pmix_proc_t *procs, size_t n, bool collect, const char *what, pmix_status_t where);

/*
 * After a PMIx_Init that is not the process' first, and before the first fence: waits until all PEs have come so far.
 * Fences do not wait for a PE that has not come back from PMIx_Finalize. 0 or -EIO after one line.
 */
int wsh_fence_pmix_return(uint32_t generation, int n_pes);

/* As wsh_fence_pmix, but it logs nothing. */
pmix_status_t wsh_fence_pmix_try(const pmix_proc_t *procs, size_t n, bool collect, const char *what,
                                 pmix_status_t where);

/* Says to oshrun where this PE waits, if it does. */
void wsh_fence_pmix_note(void);

/* Logs why a call failed, and returns -EIO. */
int wsh_pmix_call_failed(const char *what, pmix_status_t status);

#endif
