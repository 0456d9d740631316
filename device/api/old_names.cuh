/* SPDX-License-Identifier: BSD-3-Clause */
/* Former names in device code, which go with version 0.2 (shmem/old_names.h). */
#ifndef WSH_DEVICE_API_OLD_NAMES_CUH
#define WSH_DEVICE_API_OLD_NAMES_CUH

#include "counter.cuh"
#include "queue.cuh"

/* clang-format off */

#define WSH_OLD_LIST(QUALIFIER, SUFFIX, SCOPE, ...)                                                          \
    QUALIFIER WSH_INSTEAD(shmemx_putmem_list_nbi##SUFFIX)                                                    \
    void shmemx_putmem_nbi_list##SUFFIX(const shmemx_put_t *puts, size_t n)                                  \
    WSH_BODY(wsh_dev_list<SCOPE>("shmemx_putmem_nbi_list" #SUFFIX, puts, n);)
WSH_EVERY_SCOPE(WSH_OLD_LIST, )
#undef WSH_OLD_LIST

WSH_BOTH WSH_INSTEAD(shmemx_device_heap_peer_bases) void **shmemx_peer_heap_bases(void)
WSH_BODY(return shmemx_device_heap_peer_bases();)

#endif
