/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects which of the NICs that libfabric offers a PE uses, and in which order. */
#ifndef WSH_EFA_NICS_H
#define WSH_EFA_NICS_H

#include "transports/efa/nic/libfabric_load.h"

#include "topo/topo.h"
#include "transports/transport.h"

/*
 * Chooses among the endpoints of `list` (alike, each on a domain of its own), at most `most`. Where the provider drives
 * no PCI devices it is the first; else the map of NICs, GPUs and the host's PEs decides (topo.h), under the settings
 * SHMEM_NICS*, SHMEM_PE_GPU and SHMEM_TOPOLOGY. chosen[i] is the i-th rail, a member of `list`; *near are the
 * processors near them, where known.
 * Returns how many, or an error, which is logged.
 */
int wsh_efa_nics_choose(const struct wsh_tp_params *params, struct fi_info *list, int most,
                        struct fi_info *chosen[WSH_TOPO_RAILS], cpu_set_t *near);

#endif
