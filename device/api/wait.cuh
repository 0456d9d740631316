/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of the wait_until and test families in device code (section 9.11). Contracts as in shmem/p2p.h. In
 * the warp and block forms every thread of the scope gets the result. Sets hold fewer than 2^32 - 1 words.
 */
#ifndef WSH_DEVICE_API_WAIT_CUH
#define WSH_DEVICE_API_WAIT_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../core/wait_sets.cuh"
#endif

/* clang-format off */

#define WSH_WAIT(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE)                                                       \
    QUALIFIER void shmem_##NAME##_wait_until##SUFFIX(TYPE *ivar, int cmp, TYPE cmp_value)                    \
    WSH_BODY(wsh_dev_wait_until<SCOPE>("shmem_" #NAME "_wait_until" #SUFFIX ": ivar", ivar, cmp, cmp_value);) \
    QUALIFIER int shmem_##NAME##_test##SUFFIX(TYPE *ivar, int cmp, TYPE cmp_value)                           \
    WSH_BODY(return wsh_dev_test<SCOPE>("shmem_" #NAME "_test" #SUFFIX ": ivar", ivar, cmp, cmp_value);)

/* VALUE: the last parameter; ONE, EACH: the value or the array of values of a set. */
#define WSH_SET(TAG, TYPE, ONE, EACH)                                                                        \
    wsh_dev_set<wsh_dev_word<TYPE>>{TAG ": ivars", (const wsh_dev_word<TYPE> *)ivars, nelems, status, cmp,   \
                                    (wsh_dev_word<TYPE>)(ONE), (const wsh_dev_word<TYPE> *)(EACH)}

#define WSH_SETS(QUALIFIER, END, SCOPE, NAME, TYPE, VALUE, ONE, EACH)                                        \
    QUALIFIER void shmem_##NAME##_wait_until_all##END(TYPE *ivars, size_t nelems, const int *status,         \
                                                      int cmp, VALUE)                                        \
    WSH_BODY(wsh_dev_set_all<SCOPE>(WSH_SET("shmem_" #NAME "_wait_until_all" #END, TYPE, ONE, EACH), true);) \
    QUALIFIER size_t shmem_##NAME##_wait_until_any##END(TYPE *ivars, size_t nelems, const int *status,       \
                                                        int cmp, VALUE)                                      \
    WSH_BODY(return wsh_dev_set_any<SCOPE>(WSH_SET("shmem_" #NAME "_wait_until_any" #END, TYPE, ONE, EACH),  \
                                           true);)                                                           \
    QUALIFIER size_t shmem_##NAME##_wait_until_some##END(TYPE *ivars, size_t nelems, size_t *indices,        \
                                                         const int *status, int cmp, VALUE)                  \
    WSH_BODY(return wsh_dev_set_some<SCOPE>(                                                                 \
                 WSH_SET("shmem_" #NAME "_wait_until_some" #END, TYPE, ONE, EACH), indices, true);)          \
    QUALIFIER int shmem_##NAME##_test_all##END(TYPE *ivars, size_t nelems, const int *status, int cmp,       \
                                               VALUE)                                                        \
    WSH_BODY(return wsh_dev_set_all<SCOPE>(WSH_SET("shmem_" #NAME "_test_all" #END, TYPE, ONE, EACH),        \
                                           false);)                                                          \
    QUALIFIER size_t shmem_##NAME##_test_any##END(TYPE *ivars, size_t nelems, const int *status, int cmp,    \
                                                  VALUE)                                                     \
    WSH_BODY(return wsh_dev_set_any<SCOPE>(WSH_SET("shmem_" #NAME "_test_any" #END, TYPE, ONE, EACH),        \
                                           false);)                                                          \
    QUALIFIER size_t shmem_##NAME##_test_some##END(TYPE *ivars, size_t nelems, size_t *indices,              \
                                                   const int *status, int cmp, VALUE)                        \
    WSH_BODY(return wsh_dev_set_some<SCOPE>(WSH_SET("shmem_" #NAME "_test_some" #END, TYPE, ONE, EACH),      \
                                            indices, false);)

#define WSH_SETS_ONE(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE) \
    WSH_SETS(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE, TYPE cmp_value, cmp_value, nullptr)
#define WSH_SETS_EACH(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE) \
    WSH_SETS(QUALIFIER, _vector##SUFFIX, SCOPE, NAME, TYPE, const TYPE *cmp_values, 0, cmp_values)

#define WSH_TYPED(NAME, TYPE)                    \
    WSH_EVERY_SCOPE(WSH_WAIT, NAME, TYPE)        \
    WSH_EVERY_SCOPE(WSH_SETS_ONE, NAME, TYPE)    \
    WSH_EVERY_SCOPE(WSH_SETS_EACH, NAME, TYPE)
WSH_P2P_HOST_TYPES(WSH_TYPED)
#undef WSH_TYPED
#undef WSH_SETS_EACH
#undef WSH_SETS_ONE
#undef WSH_SETS
#undef WSH_SET
#undef WSH_WAIT

#endif
