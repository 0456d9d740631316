/* SPDX-License-Identifier: BSD-3-Clause */
/* What oshrun's PMIx server says of a job beyond PMIx's own keys. */
#ifndef WSH_BOOTSTRAP_PMIX_KEYS_H
#define WSH_BOOTSTRAP_PMIX_KEYS_H

#define WSH_PMIX_LOCAL_SIZE "wsh.local.size" /* of a PE, uint32: PEs on its (emulated) host */
#define WSH_PMIX_FENCE_WAITS \
    "wsh.fence.waits" /* of the job, uint32 1: a fence without data waits for every PE */

#endif
