/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits with a time limit, beyond the specification. Read by shmemx.h.
 *
 * Each is the routine of its name in shmem/p2p.h or shmem/signal.h, and ends in one of three ways. The limit is in
 * seconds, from the call on; with 0 or less it tests once, and makes progress for other PEs. In kernels too, also by a
 * warp and by a block (_warp, _block at the end of the name).
 */
#ifndef WSH_SHMEM_TIMEOUT_H
#define WSH_SHMEM_TIMEOUT_H

#include <shmem.h>

/* What a wait with a time limit returns: its condition; the time is over; a PE has failed since the call began. */
#define SHMEMX_WAIT_SATISFIED 0
#define SHMEMX_WAIT_TIMEOUT 1
#define SHMEMX_WAIT_FAILURE 2

#ifndef __CUDACC_RTC__

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/*
 * Wait until `ivar`, or every object of a set, satisfies, for at most `seconds`. Local, as shmem_wait_until and
 * shmem_wait_until_all; in _vector ivars[i] is compared with cmp_values[i]. Return 0 where it does, 1 where the time is
 * over, and 2 where a PE has failed since the call began while the others go on (SHMEM_ON_PE_FAILURE=continue): whom
 * shmemx_failed_pes says. What satisfies when that is seen counts as satisfied.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    int shmemx_##NAME##_wait_until_timeout(TYPE *ivar, int cmp, TYPE cmp_value, double seconds);   \
    int shmemx_##NAME##_wait_until_all_timeout(                                                    \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value, double seconds);   \
    int shmemx_##NAME##_wait_until_all_vector_timeout(                                             \
        TYPE *ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values,            \
        double seconds);
WSH_P2P_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Wait until one object of a set satisfies, or some do, for at most `seconds`. Local, as shmem_wait_until_any and
 * shmem_wait_until_some. Return 0, 1 or 2 as shmemx_TYPENAME_wait_until_timeout. *index is the one that satisfies,
 * SIZE_MAX where none does or the set is empty; *found is how many `indices` were written, 0 likewise. An empty set
 * counts as satisfied.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    int shmemx_##NAME##_wait_until_any_timeout(                                                    \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value, double seconds,    \
        size_t *index);                                                                            \
    int shmemx_##NAME##_wait_until_any_vector_timeout(                                             \
        TYPE *ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values,            \
        double seconds, size_t *index);                                                            \
    int shmemx_##NAME##_wait_until_some_timeout(                                                   \
        TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, TYPE cmp_value,   \
        double seconds, size_t *found);                                                            \
    int shmemx_##NAME##_wait_until_some_vector_timeout(                                            \
        TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp,                   \
        const TYPE *cmp_values, double seconds, size_t *found);
WSH_P2P_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Wait until the signal `sig_addr` satisfies, for at most `seconds`. Local, as shmem_signal_wait_until. Returns 0, 1 or
 * 2 as shmemx_TYPENAME_wait_until_timeout. *value, where it is not NULL, is what the signal held last: with 0 the value
 * that satisfied.
 */
int shmemx_signal_wait_until_timeout(uint64_t *sig_addr, int cmp, uint64_t cmp_value, double seconds,
                                     uint64_t *value);
/* clang-format on */

#ifdef __cplusplus
}
#endif

/* C11 type-generic forms, as in shmem/generic.h. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__cplusplus) && \
    !defined(WSH_NO_GENERIC)
#define WSH_GENERIC_TIMED_ROW(NAME, TYPE, OP) , TYPE : shmemx_##NAME##OP
#define WSH_GENERIC_TIMED(OP, pointer, ...) \
    _Generic(WSH_GENERIC_POINTEE(pointer) WSH_AMO_DISTINCT(WSH_GENERIC_TIMED_ROW, OP))(pointer, __VA_ARGS__)

#define shmemx_wait_until_timeout(...) WSH_GENERIC_TIMED(_wait_until_timeout, __VA_ARGS__)
#define shmemx_wait_until_all_timeout(...) WSH_GENERIC_TIMED(_wait_until_all_timeout, __VA_ARGS__)
#define shmemx_wait_until_any_timeout(...) WSH_GENERIC_TIMED(_wait_until_any_timeout, __VA_ARGS__)
#define shmemx_wait_until_some_timeout(...) WSH_GENERIC_TIMED(_wait_until_some_timeout, __VA_ARGS__)
#define shmemx_wait_until_all_vector_timeout(...) \
    WSH_GENERIC_TIMED(_wait_until_all_vector_timeout, __VA_ARGS__)
#define shmemx_wait_until_any_vector_timeout(...) \
    WSH_GENERIC_TIMED(_wait_until_any_vector_timeout, __VA_ARGS__)
#define shmemx_wait_until_some_vector_timeout(...) \
    WSH_GENERIC_TIMED(_wait_until_some_vector_timeout, __VA_ARGS__)
#endif

#endif
#endif
