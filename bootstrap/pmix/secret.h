/* SPDX-License-Identifier: BSD-3-Clause */
/* The secret of a job that PMIx started. */
#ifndef WSH_BOOTSTRAP_SECRET_PMIX_H
#define WSH_BOOTSTRAP_SECRET_PMIX_H

#include "bootstrap/boot.h"

#include <pmix.h>

/* Takes the secret out of the name space that oshrun has made, if it is one. */
void wsh_secret_pmix_open(struct wsh_boot *boot, const pmix_proc_t *me);

/* Where it is not known yet: before PE 0 commits what it publishes, and after the exchange. */
pmix_status_t wsh_secret_pmix_offer(struct wsh_boot *boot);
pmix_status_t wsh_secret_pmix_take(struct wsh_boot *boot, const pmix_proc_t *me);

#endif
