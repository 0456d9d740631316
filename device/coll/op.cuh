/* SPDX-License-Identifier: BSD-3-Clause */
/* The codes of the operations of reductions in device code. */
#ifndef WSH_DEVICE_OP_CUH
#define WSH_DEVICE_OP_CUH

/*
 * Whether this unit calls the library's collectives, or is it (library.cuh). There numbers with and without sign are
 * one kind, and codes of their own say that the sign counts: fewer bodies.
 */
#if defined(WSH_LIBRARY_SCOPE) || (defined(SHMEMX_DEVICE_LIBRARY) && defined(__CUDACC_RDC__))
#define WSH_DEVICE_APART
#endif

enum wsh_dev_op { WSH_SUM, WSH_PROD, WSH_MIN, WSH_MAX, WSH_AND, WSH_OR, WSH_XOR, WSH_MIN_SIGNED, WSH_MAX_SIGNED };

#endif
