/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers by which processes see whether they are on one machine, and whether they share its memory. */
#ifndef WSH_BASE_MACHINE_H
#define WSH_BASE_MACHINE_H

#include <stdint.h>

/* Equal where processes reach each other's loopback: one kernel (boot id), one network name space. 0: not known. */
uint64_t wsh_machine_id(void);

/* Equal where processes share memory: machine and host name; `node_emulated` as SHMEM_NODE_EMULATED. */
uint64_t wsh_host_id(long node_emulated);

#endif
