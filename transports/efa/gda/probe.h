/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether kernels could write queues of this machine's NICs, without a job: for warpshmem-info. */
#ifndef WSH_EFA_GDA_PROBE_H
#define WSH_EFA_GDA_PROBE_H

#include "base/env/env.h"

#include <stddef.h>

/*
 * Opens one queue on the NIC that the settings choose, and closes it. 0, with what it is like in `text`; -ENOTSUP or
 * -ENODEV, with why not and the cure. Other errors were logged.
 */
int wsh_efa_gda_probe(const struct wsh_env *env, char *text, size_t size);

#endif
