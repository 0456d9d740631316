/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys and events by which oshrun's PMIx server and its clients communicate beyond those of PMIx. */
#ifndef WSH_BOOTSTRAP_PMIX_KEYS_H
#define WSH_BOOTSTRAP_PMIX_KEYS_H

#define WSH_PMIX_NSPACE "oshrun-" /* how the name spaces of its jobs begin */

#define WSH_PMIX_LOCAL_SIZE "wsh.local.size" /* of a PE, uint32: PEs on its (emulated) host */
#define WSH_PMIX_FENCE_WAITS \
    "wsh.fence.waits" /* of the job, uint32 1: a fence without data waits for every PE */

/*
 * What PE 0 publishes once all PEs have come to the end of shmem_init, so that oshrun knows it before PE 0 goes on: an
 * event would have no answer, and PE 0's next request would wait up to 40 ms for TCP's ack of it.
 */
#define WSH_PMIX_INITIALIZED "wsh.initialized"

/*
 * A PE that has waited too long in a fence reports to oshrun which fence; oshrun then asks all PEs, and those that wait
 * in one answer in the same way. For range PMIX_RANGE_RM, but for the question.
 */
#define WSH_PMIX_WAITS_IN_INIT (PMIX_EXTERNAL_ERR_BASE - 2)
#define WSH_PMIX_WAITS_IN_FINALIZE (PMIX_EXTERNAL_ERR_BASE - 3)
#define WSH_PMIX_WHO_WAITS (PMIX_EXTERNAL_ERR_BASE - 4)

#endif
