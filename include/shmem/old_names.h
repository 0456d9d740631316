/* SPDX-License-Identifier: BSD-3-Clause */
/* Former names of extensions, with what to call instead. Read by shmemx.h. */
#ifndef WSH_SHMEM_OLD_NAMES_H
#define WSH_SHMEM_OLD_NAMES_H

#include <shmemx.h>

#ifndef __CUDACC_RTC__

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/*
 * Former names of routines, which go with version 0.2. They do what the routine that is named beside each does;
 * those without a single heir count what shmemx_stats_t has, shmemx_proxy_waits kernel_waits and proxy_waits,
 * shmemx_proxy_bytes proxy_bytes and proxy_copied_bytes, shmemx_network_counts network_operations and network_bytes.
 * shmemx_buffer_register_symmetric_at does not look at `preferred`.
 */
void shmemx_putmem_nbi_list(const shmemx_put_t *puts, size_t n) WSH_INSTEAD(shmemx_putmem_list_nbi);
void shmemx_ctx_putmem_nbi_list(shmem_ctx_t ctx, const shmemx_put_t *puts,
                                size_t n) WSH_INSTEAD(shmemx_ctx_putmem_list_nbi);
const char *shmemx_last_error(void) WSH_INSTEAD(shmemx_error_last);
int shmemx_hold_errors(int hold) WSH_INSTEAD(shmemx_error_hold);
void **shmemx_peer_heap_bases(void) WSH_INSTEAD(shmemx_device_heap_peer_bases);
void *shmemx_buffer_register_symmetric_at(void *addr, size_t length, void *preferred,
                                          int flags) WSH_INSTEAD(shmemx_buffer_register_symmetric);
void shmemx_proxy_waits(uint64_t *kernels, uint64_t *threads) WSH_INSTEAD(shmemx_stats);
void shmemx_proxy_bytes(uint64_t *moved, uint64_t *copied) WSH_INSTEAD(shmemx_stats);
void shmemx_network_counts(uint64_t *operations, uint64_t *bytes) WSH_INSTEAD(shmemx_stats);
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
#endif
