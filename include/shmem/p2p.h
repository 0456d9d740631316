/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point synchronization: section 9.11 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * wait_until waits until symmetric objects of this PE satisfy a comparison, test compares once; both make progress for
 * other PEs meanwhile. `ivar`, or the array `ivars` of `nelems` elements, is updated by other PEs with atomic or signal
 * operations. `cmp` is SHMEM_CMP_EQ, _NE, _GT, _GE, _LT or _LE, with the object on the left of it and `cmp_value` on
 * the right. Of an array those ivars[i] take part for which `status` is NULL or status[i] is 0; they are called the
 * set. Once an object is seen to satisfy, all data that its writer ordered before the update is visible. An address
 * that is not symmetric, or a `cmp` that is none of these, ends the job with one line.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* clang-format off */
/*
 * Wait until, or test whether, `ivar` satisfies; test returns 1 where it does, else 0. short and unsigned short are
 * deprecated here, and an extension in the routines for sets. Sections 9.11.1, .8.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    void WSH_NAME(NAME##_wait_until)(TYPE *ivar, int cmp, TYPE cmp_value);                         \
    int WSH_NAME(NAME##_test)(TYPE *ivar, int cmp, TYPE cmp_value);
WSH_P2P_HOST_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Deprecated since 1.4. wait: waits until `ivar` differs from `cmp_value`. The forms without a type are those for long;
 * in C11 wait_until is also the name of a generic form. Section 9.11.1.
 */
#define WSH_DECLARE(NAME, TYPE) void WSH_NAME(NAME##_wait)(TYPE *ivar, TYPE cmp_value);
WSH_WAIT_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

void WSH_NAME(wait)(long *ivar, long cmp_value);
void WSH_NAME(wait_until)(long *ivar, int cmp, long cmp_value);

/*
 * wait_until_all returns once every object of the set has satisfied, at once for an empty set; test_all returns 1 if
 * every one satisfies, else 0.
 *
 * any: returns the index of one object that satisfies, over a series of calls of each, in no order; SIZE_MAX for an
 * empty set, and of test_any where none satisfies.
 *
 * some: writes the indices of the objects that satisfy to `indices`, an array of `nelems` elements, and returns their
 * number: at least 1; 0 for an empty set, and of test_some where none satisfies. Sections 9.11.2 to .4, .9 to .11.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    void WSH_NAME(NAME##_wait_until_all)(TYPE *ivars, size_t nelems, const int *status, int cmp,   \
                                         TYPE cmp_value);                                          \
    size_t WSH_NAME(NAME##_wait_until_any)(TYPE *ivars, size_t nelems, const int *status, int cmp, \
                                           TYPE cmp_value);                                        \
    size_t WSH_NAME(NAME##_wait_until_some)(TYPE *ivars, size_t nelems, size_t *indices,           \
                                            const int *status, int cmp, TYPE cmp_value);           \
    int WSH_NAME(NAME##_test_all)(TYPE *ivars, size_t nelems, const int *status, int cmp,          \
                                  TYPE cmp_value);                                                 \
    size_t WSH_NAME(NAME##_test_any)(TYPE *ivars, size_t nelems, const int *status, int cmp,       \
                                     TYPE cmp_value);                                              \
    size_t WSH_NAME(NAME##_test_some)(TYPE *ivars, size_t nelems, size_t *indices,                 \
                                      const int *status, int cmp, TYPE cmp_value);
WSH_P2P_HOST_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/* The same, where ivars[i] is compared with cmp_values[i] of `nelems` elements. Sections 9.11.5 to .7, .12 to .14. */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    void WSH_NAME(NAME##_wait_until_all_vector)(TYPE *ivars, size_t nelems, const int *status,     \
                                                int cmp, const TYPE *cmp_values);                  \
    size_t WSH_NAME(NAME##_wait_until_any_vector)(TYPE *ivars, size_t nelems, const int *status,   \
                                                  int cmp, const TYPE *cmp_values);                \
    size_t WSH_NAME(NAME##_wait_until_some_vector)(TYPE *ivars, size_t nelems, size_t *indices,    \
                                                   const int *status, int cmp,                     \
                                                   const TYPE *cmp_values);                        \
    int WSH_NAME(NAME##_test_all_vector)(TYPE *ivars, size_t nelems, const int *status, int cmp,   \
                                         const TYPE *cmp_values);                                  \
    size_t WSH_NAME(NAME##_test_any_vector)(TYPE *ivars, size_t nelems, const int *status,         \
                                            int cmp, const TYPE *cmp_values);                      \
    size_t WSH_NAME(NAME##_test_some_vector)(TYPE *ivars, size_t nelems, size_t *indices,          \
                                             const int *status, int cmp, const TYPE *cmp_values);
WSH_P2P_HOST_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

#endif
