/* SPDX-License-Identifier: BSD-3-Clause */
/* What jobs of several hosts would take here, without one: for warpshmem-info. */
#ifndef WSH_EFA_PREVIEW_H
#define WSH_EFA_PREVIEW_H

#include "base/env/env.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes libfabric's version, provider, fabric and domains that the settings choose, and *slow where the provider
 * drives no device. -ENODEV: none; `text` then says why. Other errors were logged.
 */
int wsh_efa_preview(const struct wsh_env *env, char *text, size_t size, bool *slow);

#endif
