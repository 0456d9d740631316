/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals and puts with signal: section 9.8 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * A signal is a symmetric uint64_t that announces data. `sig_op` says how the value `signal` updates
 * it: SHMEM_SIGNAL_SET writes it, SHMEM_SIGNAL_ADD adds it. Updates are atomic with respect to other
 * signal operations, wait_until and test.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* clang-format off */
/*
 * Put `nelems` elements to `dest` at `pe`, then update the signal at `sig_addr` there. When `pe` sees
 * the new value, it sees this data; that of other puts only if a fence orders them. With `nelems` 0
 * the signal alone is updated. The blocking forms return when `source` may be reused; after the _nbi
 * forms it may be when the context's next quiet has returned. `dest` and `sig_addr` do not overlap.
 * Sections 9.8.1, .2.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    void WSH_NAME(NAME##_put_signal)(TYPE *dest, const TYPE *source, size_t nelems,                \
                                     uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);     \
    void WSH_NAME(ctx_##NAME##_put_signal)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,        \
                                           size_t nelems, uint64_t *sig_addr, uint64_t signal,     \
                                           int sig_op, int pe);                                    \
    void WSH_NAME(NAME##_put_signal_nbi)(TYPE *dest, const TYPE *source, size_t nelems,            \
                                         uint64_t *sig_addr, uint64_t signal, int sig_op, int pe); \
    void WSH_NAME(ctx_##NAME##_put_signal_nbi)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,    \
                                               size_t nelems, uint64_t *sig_addr, uint64_t signal, \
                                               int sig_op, int pe);
WSH_RMA_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

#define WSH_DECLARE(SIZE)                                                                          \
    void WSH_NAME(put##SIZE##_signal)(void *dest, const void *source, size_t nelems,               \
                                      uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);    \
    void WSH_NAME(ctx_put##SIZE##_signal)(shmem_ctx_t ctx, void *dest, const void *source,         \
                                          size_t nelems, uint64_t *sig_addr, uint64_t signal,      \
                                          int sig_op, int pe);                                     \
    void WSH_NAME(put##SIZE##_signal_nbi)(void *dest, const void *source, size_t nelems,           \
                                          uint64_t *sig_addr, uint64_t signal, int sig_op,         \
                                          int pe);                                                 \
    void WSH_NAME(ctx_put##SIZE##_signal_nbi)(shmem_ctx_t ctx, void *dest, const void *source,     \
                                              size_t nelems, uint64_t *sig_addr, uint64_t signal,  \
                                              int sig_op, int pe);
WSH_SIZES(WSH_DECLARE)
#undef WSH_DECLARE

void WSH_NAME(putmem_signal)(void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
                             uint64_t signal, int sig_op, int pe);
void WSH_NAME(ctx_putmem_signal)(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                                 uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void WSH_NAME(putmem_signal_nbi)(void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
                                 uint64_t signal, int sig_op, int pe);
void WSH_NAME(ctx_putmem_signal_nbi)(shmem_ctx_t ctx, void *dest, const void *source,
                                     size_t nelems, uint64_t *sig_addr, uint64_t signal,
                                     int sig_op, int pe);

/* Update the signal alone. Only a fence orders it behind earlier puts. Sections 9.8.3, .5. */
void WSH_NAME(signal_add)(uint64_t *sig_addr, uint64_t signal, int pe);
void WSH_NAME(ctx_signal_add)(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
void WSH_NAME(signal_set)(uint64_t *sig_addr, uint64_t signal, int pe);
void WSH_NAME(ctx_signal_set)(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);

/*
 * Returns the value of this PE's own signal without waiting; the data that the value announces is
 * visible then. Section 9.8.4.
 */
uint64_t WSH_NAME(signal_fetch)(const uint64_t *sig_addr);

/*
 * Waits until `*sig_addr cmp cmp_value` holds at this PE; returns the value that satisfied it.
 * Section 9.11.15.
 */
uint64_t WSH_NAME(signal_wait_until)(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

#endif
