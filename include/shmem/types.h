/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of types: every class of types in the OpenSHMEM 1.6 specification (sections 9.6 to 9.11), one row a type.
 * Prototypes, C11 generic forms, library bodies, tests and the list of exported symbols are generated from these
 * tables alone.
 *
 * A table takes a macro X and expands it once a row as X(NAME, TYPE): NAME is the specification's
 * TYPENAME as it stands in routine names, TYPE the C type. Tables of distinct types pass a further
 * argument on, X(NAME, TYPE, arg).
 */
#ifndef WSH_SHMEM_TYPES_H
#define WSH_SHMEM_TYPES_H

#ifndef __CUDACC_RTC__
#include <stddef.h>
#include <stdint.h>
#else /* NVRTC has no libc; its targets are LP64 */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#endif

/*
 * Standard RMA types: put, get, p, g, iput, ibput, put_signal, and the collectives but reductions.
 */
#define WSH_RMA_TYPES(X)             \
    X(float, float)                  \
    X(double, double)                \
    X(longdouble, long double)       \
    WSH_RMA_INTEGER_TYPES(X)

#define WSH_RMA_INTEGER_TYPES(X)     \
    X(char, char)                    \
    X(schar, signed char)            \
    X(short, short)                  \
    X(int, int)                      \
    X(long, long)                    \
    X(longlong, long long)           \
    X(uchar, unsigned char)          \
    X(ushort, unsigned short)        \
    X(uint, unsigned int)            \
    X(ulong, unsigned long)          \
    X(ulonglong, unsigned long long) \
    X(int8, int8_t)                  \
    X(int16, int16_t)                \
    X(int32, int32_t)                \
    X(int64, int64_t)                \
    X(uint8, uint8_t)                \
    X(uint16, uint16_t)              \
    X(uint32, uint32_t)              \
    X(uint64, uint64_t)              \
    X(size, size_t)                  \
    X(ptrdiff, ptrdiff_t)

/*
 * In device code: the same but long double, which GPUs lack. The second table, of types that the
 * host lacks, is only declared there: their routines exist on the device alone.
 */
#define WSH_DEVICE_TYPES(X) X(float, float) X(double, double) WSH_RMA_INTEGER_TYPES(X)
#define WSH_HALF_TYPES(X) X(half, __half) X(bfloat16, __nv_bfloat16)

#define WSH_COLL_TYPES(X) WSH_RMA_TYPES(X)

/* Element sizes in bits of the untyped forms: X(BITS). */
#define WSH_SIZES(X) X(8) X(16) X(32) X(64) X(128)

/* Standard AMO types: compare_swap, [fetch_]inc, [fetch_]add. */
#define WSH_AMO_TYPES(X)             \
    X(int, int)                      \
    X(long, long)                    \
    X(longlong, long long)           \
    X(uint, unsigned int)            \
    X(ulong, unsigned long)          \
    X(ulonglong, unsigned long long) \
    X(int32, int32_t)                \
    X(int64, int64_t)                \
    X(uint32, uint32_t)              \
    X(uint64, uint64_t)              \
    X(size, size_t)                  \
    X(ptrdiff, ptrdiff_t)

/* Extended AMO types: fetch, set, swap. */
#define WSH_AMO_EXTENDED_TYPES(X) \
    X(float, float)               \
    X(double, double)             \
    WSH_AMO_TYPES(X)

/* Bitwise AMO types: [fetch_]and, [fetch_]or, [fetch_]xor. */
#define WSH_AMO_BITWISE_TYPES(X)     \
    X(uint, unsigned int)            \
    X(ulong, unsigned long)          \
    X(ulonglong, unsigned long long) \
    X(int32, int32_t)                \
    X(int64, int64_t)                \
    X(uint32, uint32_t)              \
    X(uint64, uint64_t)

/* Point-to-point synchronization: the wait_until and test families. */
#define WSH_P2P_TYPES(X) WSH_AMO_TYPES(X)

/*
 * Two more: the specification has deprecated them for wait_until and test, and has none of
 * them for sets of words, which other libraries accept. Then the types of the deprecated wait.
 */
#define WSH_P2P_SHORT_TYPES(X) X(short, short) X(ushort, unsigned short)
#define WSH_P2P_HOST_TYPES(X) WSH_P2P_TYPES(X) WSH_P2P_SHORT_TYPES(X)
#define WSH_WAIT_TYPES(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)

/* Deprecated AMO names (cswap, finc, inc, fadd, add), and those of fetch, set and swap. */
#define WSH_AMO_OLD_TYPES(X) X(int, int) X(long, long) X(longlong, long long)
#define WSH_AMO_OLD_EXTENDED_TYPES(X) X(float, float) X(double, double) WSH_AMO_OLD_TYPES(X)

/* Team reductions: and, or, xor. */
#define WSH_REDUCE_BITWISE_TYPES(X)  \
    X(uchar, unsigned char)          \
    X(ushort, unsigned short)        \
    X(uint, unsigned int)            \
    X(ulong, unsigned long)          \
    X(ulonglong, unsigned long long) \
    X(int8, int8_t)                  \
    X(int16, int16_t)                \
    X(int32, int32_t)                \
    X(int64, int64_t)                \
    X(uint8, uint8_t)                \
    X(uint16, uint16_t)              \
    X(uint32, uint32_t)              \
    X(uint64, uint64_t)              \
    X(size, size_t)

/* Team reductions: max, min; first those that device code has too. */
#define WSH_REDUCE_REAL_TYPES(X)    \
    WSH_REDUCE_BITWISE_TYPES(X)     \
    X(char, char)                   \
    X(schar, signed char)           \
    X(short, short)                 \
    X(int, int)                     \
    X(long, long)                   \
    X(longlong, long long)          \
    X(ptrdiff, ptrdiff_t)           \
    X(float, float)                 \
    X(double, double)

#define WSH_REDUCE_ORDERED_TYPES(X) WSH_REDUCE_REAL_TYPES(X) X(longdouble, long double)

/* ISO C++ lacks these types, and compilers have them as an extension; NVRTC has neither them nor their routines. */
#ifndef __CUDACC_RTC__
#ifdef __GNUC__
__extension__
#endif
typedef double _Complex wsh_complexd;
#ifdef __GNUC__
__extension__
#endif
typedef float _Complex wsh_complexf;
#endif
#define WSH_COMPLEX_TYPES(X) X(complexd, wsh_complexd) X(complexf, wsh_complexf)

/* Team reductions and scans: sum, prod, sum_inscan, sum_exscan. */
#define WSH_REDUCE_ARITHMETIC_TYPES(X) WSH_REDUCE_ORDERED_TYPES(X) WSH_COMPLEX_TYPES(X)

/* Deprecated reductions over active sets (_to_all): and, or, xor; max, min; sum, prod. */
#define WSH_TO_ALL_BITWISE_TYPES(X) \
    X(short, short)                 \
    X(int, int)                     \
    X(long, long)                   \
    X(longlong, long long)
#define WSH_TO_ALL_ORDERED_TYPES(X) \
    WSH_TO_ALL_BITWISE_TYPES(X)     \
    X(float, float)                 \
    X(double, double)               \
    X(longdouble, long double)
#define WSH_TO_ALL_ARITHMETIC_TYPES(X) WSH_TO_ALL_ORDERED_TYPES(X) WSH_COMPLEX_TYPES(X)

/* Deprecated collectives over active sets: element sizes in bits. */
#define WSH_ACTIVE_SIZES(X) X(32) X(64)

/*
 * Distinct C types, for C11 _Generic: no two rows of a table are compatible types, and every type
 * of the class above is one of them (size_t is unsigned long, or unsigned int, …).
 */
#define WSH_RMA_DISTINCT(X, arg)          \
    X(float, float, arg)                  \
    X(double, double, arg)                \
    X(longdouble, long double, arg)       \
    X(char, char, arg)                    \
    X(schar, signed char, arg)            \
    X(short, short, arg)                  \
    X(int, int, arg)                      \
    X(long, long, arg)                    \
    X(longlong, long long, arg)           \
    X(uchar, unsigned char, arg)          \
    X(ushort, unsigned short, arg)        \
    X(uint, unsigned int, arg)            \
    X(ulong, unsigned long, arg)          \
    X(ulonglong, unsigned long long, arg)

#define WSH_AMO_DISTINCT(X, arg)          \
    X(int, int, arg)                      \
    X(long, long, arg)                    \
    X(longlong, long long, arg)           \
    X(uint, unsigned int, arg)            \
    X(ulong, unsigned long, arg)          \
    X(ulonglong, unsigned long long, arg)

/* The wait_until and test families. */
#define WSH_P2P_DISTINCT(X, arg)     \
    WSH_AMO_DISTINCT(X, arg)         \
    X(short, short, arg)             \
    X(ushort, unsigned short, arg)

/* Deprecated AMO names. */
#define WSH_AMO_OLD_DISTINCT(X, arg) \
    X(int, int, arg)                 \
    X(long, long, arg)               \
    X(longlong, long long, arg)
#define WSH_AMO_OLD_EXTENDED_DISTINCT(X, arg) \
    X(float, float, arg)                      \
    X(double, double, arg)                    \
    WSH_AMO_OLD_DISTINCT(X, arg)

#define WSH_AMO_EXTENDED_DISTINCT(X, arg) \
    X(float, float, arg)                  \
    X(double, double, arg)                \
    WSH_AMO_DISTINCT(X, arg)

#define WSH_AMO_BITWISE_DISTINCT(X, arg)  \
    X(uint, unsigned int, arg)            \
    X(ulong, unsigned long, arg)          \
    X(ulonglong, unsigned long long, arg) \
    X(int32, int32_t, arg)                \
    X(int64, int64_t, arg)

#define WSH_REDUCE_BITWISE_DISTINCT(X, arg) \
    X(uchar, unsigned char, arg)            \
    X(ushort, unsigned short, arg)          \
    X(uint, unsigned int, arg)              \
    X(ulong, unsigned long, arg)            \
    X(ulonglong, unsigned long long, arg)   \
    X(int8, int8_t, arg)                    \
    X(int16, int16_t, arg)                  \
    X(int32, int32_t, arg)                  \
    X(int64, int64_t, arg)

#define WSH_REDUCE_ORDERED_DISTINCT(X, arg) WSH_RMA_DISTINCT(X, arg)

#define WSH_REDUCE_ARITHMETIC_DISTINCT(X, arg) \
    WSH_RMA_DISTINCT(X, arg)                   \
    X(complexd, wsh_complexd, arg)             \
    X(complexf, wsh_complexf, arg)

#endif
