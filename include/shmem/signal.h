/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Section 9.8: signals. Read by shmem.h and pshmem.h under their names.
 *
 * A signal is a symmetric uint64_t that announces data: `sig_op` is SHMEM_SIGNAL_SET (write
 * `signal`) or SHMEM_SIGNAL_ADD (add it), atomic with regard to the other signal operations,
 * wait_until and test.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* clang-format off */
/*
 * put of `nelems` elements, then update of the signal at `sig_addr` of `pe`: whoever sees the
 * signal there sees these data (not those of other puts: fence for that). No element: the signal
 * alone. Blocking: `source` may be reused on return; _nbi: after the context's next quiet. `dest`
 * and `sig_addr` do not overlap. Sections 9.8.1, .2.
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

/* The signal alone: not ordered after earlier puts without a fence. Sections 9.8.3, .5. */
void WSH_NAME(signal_add)(uint64_t *sig_addr, uint64_t signal, int pe);
void WSH_NAME(ctx_signal_add)(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
void WSH_NAME(signal_set)(uint64_t *sig_addr, uint64_t signal, int pe);
void WSH_NAME(ctx_signal_set)(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);

/*
 * The value of this PE's own signal, without waiting; data it announces are visible. Section 9.8.4.
 */
uint64_t WSH_NAME(signal_fetch)(const uint64_t *sig_addr);

/*
 * Waits until `*sig_addr cmp cmp_value` holds at this PE; returns the value that satisfied it.
 * Section 9.11.15.
 */
uint64_t WSH_NAME(signal_wait_until)(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

#endif
