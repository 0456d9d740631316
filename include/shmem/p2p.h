/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Section 9.11: point-to-point synchronization. Read by shmem.h and pshmem.h under their names.
 *
 * `ivar` and `ivars[0 … nelems)` are symmetric objects of this PE that others update by atomic or
 * signal operations; `cmp` is SHMEM_CMP_*, with the object on the left. The set looked at is
 * ivars[i] for every i with status NULL or status[i] == 0. _vector compares ivars[i] with
 * cmp_values[i]. Once an object is seen to satisfy its comparison, what its writer ordered before
 * is visible. wait_until waits, test looks once; both serve other PEs meanwhile.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* clang-format off */
/*
 * One object; test returns 1 where it holds, else 0; short and unsigned short are deprecated here, and
 * an extension below.
 * Sections 9.11.1, .8.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    void WSH_NAME(NAME##_wait_until)(TYPE *ivar, int cmp, TYPE cmp_value);                         \
    int WSH_NAME(NAME##_test)(TYPE *ivar, int cmp, TYPE cmp_value);
WSH_P2P_HOST_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Deprecated since 1.4. wait: until the object differs from `cmp_value`. The forms without a type are
 * those for long; for C11 wait_until is also the name of a generic form.
 */
#define WSH_DECLARE(NAME, TYPE) void WSH_NAME(NAME##_wait)(TYPE *ivar, TYPE cmp_value);
WSH_WAIT_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

void WSH_NAME(wait)(long *ivar, long cmp_value);
void WSH_NAME(wait_until)(long *ivar, int cmp, long cmp_value);

/*
 * all: until (test: 1 if) every object of the set has satisfied; an empty set has.
 *
 * any: index of one that satisfies, each of them in turn over a series of calls; SIZE_MAX for an
 * empty set (test: or where none does).
 *
 * some: writes the indices of those that satisfy to `indices`, which holds nelems of them, and
 * returns their number: at least one, 0 for an empty set (test: or where none does). Sections
 * 9.11.2 to .4, .9 to .11.
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

/* The same, each object with a value of its own. Sections 9.11.5 to .7, .12 to .14. */
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
