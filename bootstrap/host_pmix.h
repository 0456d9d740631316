/* SPDX-License-Identifier: BSD-3-Clause */
/* An exchange of data among the PEs of one host through PMIx, without a fence of all PEs. */
#ifndef WSH_BOOTSTRAP_HOST_PMIX_H
#define WSH_BOOTSTRAP_HOST_PMIX_H

#include <pmix.h>
#include <stddef.h>

/* As exchange_host of boot.h, for the process `me` among the `n` of its host. */
int wsh_host_pmix_exchange(const pmix_proc_t *me, int n, const void *mine, size_t len, void *all);

#endif
