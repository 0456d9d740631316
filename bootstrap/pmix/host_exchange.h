/* SPDX-License-Identifier: BSD-3-Clause */
/* An exchange of data among the PEs of one host through PMIx, without a fence of all PEs. */
#ifndef WSH_BOOTSTRAP_HOST_PMIX_H
#define WSH_BOOTSTRAP_HOST_PMIX_H

#include "bootstrap/boot.h"

#include <pmix.h>
#include <stddef.h>

/* As exchange_host of boot.h, for the process `me` among the `n` of its host. */
int wsh_host_pmix_exchange(const pmix_proc_t *me, int n, const void *mine, size_t len, void *all);

/* A number about the job or a PE that the launcher may or may not give; `missing`: it does not. */
long wsh_host_pmix_number(const pmix_proc_t *me, pmix_rank_t rank, const char *key, long missing);
/* Likewise a number or a text, as text; free it. NULL: it does not. */
char *wsh_host_pmix_text(const pmix_proc_t *me, pmix_rank_t rank, const char *key);
/* Sets local_rank and local_size from the launcher's list of the PEs of this host. */
void wsh_host_pmix_peers(struct wsh_boot *boot, const pmix_proc_t *me);

/* The same, the PE's number and theirs, and the launcher. 0 or -EPROTO (logged). */
int wsh_host_pmix_identity(struct wsh_boot *boot, const pmix_proc_t *me, const struct wsh_env *env);

#endif
