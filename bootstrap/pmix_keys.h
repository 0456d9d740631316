/* SPDX-License-Identifier: BSD-3-Clause */
/* What oshrun's PMIx server and its clients tell each other beyond PMIx's own keys. */
#ifndef WSH_BOOTSTRAP_PMIX_KEYS_H
#define WSH_BOOTSTRAP_PMIX_KEYS_H

#define WSH_PMIX_LOCAL_SIZE "wsh.local.size" /* of a PE, uint32: PEs on its (emulated) host */
#define WSH_PMIX_FENCE_WAITS \
    "wsh.fence.waits" /* of the job, uint32 1: a fence without data waits for every PE */

/* The event by which PE 0 tells oshrun that all PEs have come to the end of shmem_init. For range PMIX_RANGE_RM. */
#define WSH_PMIX_INITIALIZED (PMIX_EXTERNAL_ERR_BASE - 1)

#endif
