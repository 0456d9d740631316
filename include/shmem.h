/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenSHMEM 1.6 interface: constants, handles and, through shmem/<section>.h, every routine
 * with its contract. Holds only names of the specification (and WSH_/wsh_ names, which programs
 * never use, and one for shmem4py). Extensions are in shmemx.h.
 *
 * Words used in all contracts. A *symmetric address* is an address at the calling PE of an object
 * that exists at every PE: memory of shmem_malloc and its relatives, or a global or static variable
 * of the program. `pe` is a PE number in the team of the context used (the world team without a
 * context). `nelems` counts elements, never bytes, but in the forms named ...mem. Where a number of
 * elements is 0, addresses may be NULL and nothing is done.
 *
 * Errors. A PE out of range, an address that is NULL or not symmetric, an invalid context and a
 * call before shmem_init or after shmem_finalize end the job: one line on standard error says
 * routine, argument, PE and cure, and the exit status is 1. No routine returns with its operation
 * silently left out.
 *
 * Profiling (section 10): every routine shmem_x is a weak symbol and also exists as pshmem_x
 * (pshmem.h); the library itself calls neither.
 */
#ifndef WSH_SHMEM_H
#define WSH_SHMEM_H

#if defined __cplusplus && __cplusplus < 201103L
#error "shmem.h takes C++11 or newer: compile with -std=c++11, or leave -std out"
#endif

#include <shmem/types.h>

/* Version of the specification, and of its implementer. Section 6. */
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN 64 /* bytes, the terminating null included */
#define SHMEM_VENDOR_STRING "warpshmem"

/*
 * shmem4py, which is compiled with this header, knows five libraries by name, and takes what any
 * other one has for absent. This one has all routines in their standard form, as that one has.
 */
#define PySHMEM_VENDOR_Sandia 1

/* Thread levels, in increasing order. Section 9.2. */
#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

/* Hints to shmem_malloc_with_hints: bits. Section 9.3. */
#define SHMEM_MALLOC_ATOMICS_REMOTE (1L << 0)
#define SHMEM_MALLOC_SIGNAL_REMOTE (1L << 1)

/* Fields of shmem_team_config_t: bits of a mask. Section 9.4. */
#define SHMEM_TEAM_NUM_CONTEXTS (1L << 0)

/* Options of a context: bits. Section 9.5. */
#define SHMEM_CTX_SERIALIZED (1L << 0) /* threads take turns */
#define SHMEM_CTX_PRIVATE (1L << 1)    /* used by the thread that created it alone */
#define SHMEM_CTX_NOSTORE (1L << 2)    /* its fence and quiet need not order plain stores */

/* How a signal is updated. Section 9.8. */
#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

/* Sessions: options, and fields of shmem_ctx_session_config_t, both bits. Section 9.9. */
#define SHMEM_CTX_SESSION_BATCH (1L << 0)     /* latency of single calls does not matter */
#define SHMEM_CTX_SESSION_TOTAL_OPS (1L << 0) /* total_ops is set */

/* Comparisons: the value at the address stands left, the value given right. Section 9.11. */
#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_NE 1
#define SHMEM_CMP_GT 2
#define SHMEM_CMP_LE 3
#define SHMEM_CMP_LT 4
#define SHMEM_CMP_GE 5

/* Deprecated: work arrays of the collectives over active sets, in elements. Section 9.10. */
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 8
#define SHMEM_BCAST_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_BARRIER_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* Deprecated names since 1.3. Section 6. */
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_GE SHMEM_CMP_GE

/* Handles: may be assigned, compared and used in initializers; valid at this PE only. Section 7. */
typedef struct wsh_ctx *shmem_ctx_t;
typedef struct wsh_team *shmem_team_t;

#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1) /* of the world team: what forms without ctx use */

#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)  /* all PEs */
#define SHMEM_TEAM_SHARED ((shmem_team_t)2) /* PEs that shmem_ptr reaches, mutually */

typedef struct {
    int num_contexts; /* contexts that may exist on the team at the same time */
} shmem_team_config_t;

typedef struct {
    size_t
        total_ops; /* calls of section 9.6 that the session will see at most; default SIZE_MAX: not known */
} shmem_ctx_session_config_t;

#if defined(__cplusplus)
#define WSH_NORETURN [[noreturn]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define WSH_NORETURN _Noreturn
#else
#define WSH_NORETURN __attribute__((noreturn))
#endif

#ifndef __CUDACC_RTC__ /* NVRTC compiles device code alone */
/* The sections are read under the public names here and under the profiling names by pshmem.h. */
#define WSH_NAME(name) shmem_##name
#define WSH_OLD_NAME(name) name /* of before the prefix shmem_ */

/*
 * For shmemx.h, in nvcc's pass over device code: bodies stand before these declarations. The compiler searches all
 * functions for each one that gets its body after another declaration.
 */
#ifdef WSH_DEVICE_FIRST
#include <shmem/device.cuh>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include <shmem/setup.h>

#include <shmem/memory.h>

#include <shmem/team.h>

#include <shmem/rma.h>

#include <shmem/amo.h>

#include <shmem/signal.h>

#include <shmem/session.h>

#include <shmem/coll.h>

#include <shmem/p2p.h>

#include <shmem/order.h>

#include <shmem/lock.h>

#ifdef __cplusplus
}
#endif

#undef WSH_NAME
#undef WSH_OLD_NAME

#include <shmem/generic.h>
#endif

#endif
