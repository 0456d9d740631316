/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of what concerns PEs that fail while others go on, in device code: queries, and waits with a time
 * limit. Contracts as in shmemx.h and shmem/timeout.h. In the warp and block forms every thread of the scope gets the
 * result. Sets hold fewer than 2^32 - 1 words.
 */
#ifndef WSH_DEVICE_API_FAILURE_CUH
#define WSH_DEVICE_API_FAILURE_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../failed/wait_timed.cuh"
#endif

/* clang-format off */

/* Kernels hear of a failure when the host's watch thread has: 10 ms after it at the latest. */
WSH_BOTH int shmemx_pe_failed(int pe)
WSH_BODY(return wsh_dev_pe_failed(pe);)
WSH_BOTH uint64_t shmemx_failure_generation(void)
WSH_BODY(return wsh_dev_generation();)
WSH_BOTH int shmemx_team_broken(shmem_team_t team)
WSH_BODY(return team == SHMEM_TEAM_INVALID ? -1
                : wsh_dev_area_broken(team == SHMEM_TEAM_WORLD ? wsh_device_view.world
                                                               : wsh_dev_area_find((uint64_t)team));)

/* VALUE, EACH: the value or the array of values of a set. */
#define WSH_TIMED_OF(TAG, TYPE, WORDS, N, STATUS, VALUE, EACH, KIND)                                         \
    wsh_dev_timed_words{TAG, (const char *)(WORDS), N, STATUS, (const char *)(EACH), (uint64_t)(VALUE), seconds, cmp, \
                  sizeof(TYPE), wsh_dev_is_signed<TYPE>(), KIND, 0}

#define WSH_TIMED_ONE(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE)                                                  \
    QUALIFIER int shmemx_##NAME##_wait_until_timeout##SUFFIX(TYPE *ivar, int cmp, TYPE cmp_value,            \
                                                             double seconds)                                 \
    WSH_BODY(return wsh_dev_timed<SCOPE>(                                                                    \
                 WSH_TIMED_OF("shmemx_" #NAME "_wait_until_timeout" #SUFFIX ": ivar", TYPE, ivar, 1,         \
                              nullptr, cmp_value, nullptr, WSH_TIMED_ALL), nullptr, nullptr);)

#define WSH_TIMED_SETS(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE, FORM, PARAMETER, VALUE, EACH)                   \
    QUALIFIER int shmemx_##NAME##_wait_until_all##FORM##_timeout##SUFFIX(                                    \
        TYPE *ivars, size_t nelems, const int *status, int cmp, PARAMETER, double seconds)                   \
    WSH_BODY(return wsh_dev_timed<SCOPE>(                                                                    \
                 WSH_TIMED_OF("shmemx_" #NAME "_wait_until_all" #FORM "_timeout" #SUFFIX ": ivars", TYPE, ivars, \
                              nelems, status, VALUE, EACH, WSH_TIMED_ALL), nullptr, nullptr);)               \
    QUALIFIER int shmemx_##NAME##_wait_until_any##FORM##_timeout##SUFFIX(                                    \
        TYPE *ivars, size_t nelems, const int *status, int cmp, PARAMETER, double seconds, size_t *index)    \
    WSH_BODY(return wsh_dev_timed<SCOPE>(                                                                    \
                 WSH_TIMED_OF("shmemx_" #NAME "_wait_until_any" #FORM "_timeout" #SUFFIX ": ivars", TYPE, ivars, \
                              nelems, status, VALUE, EACH, WSH_TIMED_ANY), nullptr, index);)                 \
    QUALIFIER int shmemx_##NAME##_wait_until_some##FORM##_timeout##SUFFIX(                                   \
        TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, PARAMETER, double seconds,  \
        size_t *found)                                                                                       \
    WSH_BODY(return wsh_dev_timed<SCOPE>(                                                                    \
                 WSH_TIMED_OF("shmemx_" #NAME "_wait_until_some" #FORM "_timeout" #SUFFIX ": ivars", TYPE, ivars, \
                              nelems, status, VALUE, EACH, WSH_TIMED_SOME), indices, found);)

#define WSH_TIMED_VALUE(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE) \
    WSH_TIMED_SETS(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE, , TYPE cmp_value, cmp_value, nullptr)
#define WSH_TIMED_EACH(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE) \
    WSH_TIMED_SETS(QUALIFIER, SUFFIX, SCOPE, NAME, TYPE, _vector, const TYPE *cmp_values, 0, cmp_values)

#define WSH_TYPED(NAME, TYPE)                      \
    WSH_EVERY_SCOPE(WSH_TIMED_ONE, NAME, TYPE)     \
    WSH_EVERY_SCOPE(WSH_TIMED_VALUE, NAME, TYPE)   \
    WSH_EVERY_SCOPE(WSH_TIMED_EACH, NAME, TYPE)
WSH_P2P_TYPES(WSH_TYPED)
#undef WSH_TYPED
#undef WSH_TIMED_EACH
#undef WSH_TIMED_VALUE
#undef WSH_TIMED_SETS
#undef WSH_TIMED_ONE

#define WSH_TIMED_SIGNAL(QUALIFIER, SUFFIX, SCOPE, ...)                                                      \
    QUALIFIER int shmemx_signal_wait_until_timeout##SUFFIX(uint64_t *sig_addr, int cmp, uint64_t cmp_value,  \
                                                           double seconds, uint64_t *value)                  \
    WSH_BODY(return wsh_dev_signal_timed<SCOPE>(                                                             \
                 WSH_TIMED_OF("shmemx_signal_wait_until_timeout" #SUFFIX ": sig_addr", uint64_t, sig_addr,   \
                              1, nullptr, cmp_value, nullptr, WSH_TIMED_ALL), value);)                       \
    QUALIFIER int shmemx_counter_wait_until_timeout##SUFFIX(shmemx_counter_t counter, uint64_t value,        \
                                                            double seconds)                                  \
    WSH_BODY(return wsh_dev_counter_timed<SCOPE>("shmemx_counter_wait_until_timeout" #SUFFIX, counter, value, \
                                                 seconds);)
WSH_EVERY_SCOPE(WSH_TIMED_SIGNAL, )
#undef WSH_TIMED_SIGNAL
#undef WSH_TIMED_OF

#endif
