/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * THE table of the kernels that the library has compiled beforehand, X(PART, NAME) each; for kernels.cu and for the
 * host. What moves data knows bytes or the size of elements, waits the size and sign of a word, reductions the kind of
 * a number: so few kernels serve the routines of all types. A part is an image of its own, compiled by itself.
 */
#ifndef WSH_NVSHMEM_KERNELS_H
#define WSH_NVSHMEM_KERNELS_H

/* By the bytes of an element, of a word, and by the size and sign of a word. */
#define WSH_IMAGE_STRIDES(X, PART, NAME) \
    X(PART, NAME##_1)                    \
    X(PART, NAME##_2)                    \
    X(PART, NAME##_4)                    \
    X(PART, NAME##_8)                    \
    X(PART, NAME##_16)
#define WSH_IMAGE_WORDS(X, PART, NAME) \
    X(PART, NAME##_1)                  \
    X(PART, NAME##_2)                  \
    X(PART, NAME##_4)                  \
    X(PART, NAME##_8)
#define WSH_IMAGE_SIGNS(X, PART, NAME) \
    X(PART, NAME##_u2)                 \
    X(PART, NAME##_u4)                 \
    X(PART, NAME##_u8)                 \
    X(PART, NAME##_s2)                 \
    X(PART, NAME##_s4)                 \
    X(PART, NAME##_s8)

/* Kinds of numbers; integers of either sign are one, by the bit below in the code of an operation that compares. */
#define WSH_IMAGE_SIGNED 8
#define WSH_IMAGE_KINDS(X, PART, NAME) \
    X(PART, NAME##_1)                  \
    X(PART, NAME##_2)                  \
    X(PART, NAME##_4)                  \
    X(PART, NAME##_8)                  \
    X(PART, NAME##_float)              \
    X(PART, NAME##_double)             \
    X(PART, NAME##_half)               \
    X(PART, NAME##_bfloat16)

#define WSH_IMAGE_MOVES(X)            \
    X(moves, barrier)                 \
    X(moves, exchange)                \
    X(moves, broadcast)               \
    X(moves, put)                     \
    X(moves, get)                     \
    X(moves, put_signal)              \
    X(moves, signal_after)            \
    X(moves, signal_op)               \
    X(moves, quiet)                   \
    WSH_IMAGE_STRIDES(X, moves, iput) \
    WSH_IMAGE_STRIDES(X, moves, iget) \
    WSH_IMAGE_WORDS(X, moves, p)      \
    WSH_IMAGE_WORDS(X, moves, g)      \
    WSH_IMAGE_SIGNS(X, moves, wait)   \
    WSH_IMAGE_SIGNS(X, moves, wait_all)

#define WSH_IMAGE_SUMS(X)            \
    WSH_IMAGE_KINDS(X, sums, reduce) \
    WSH_IMAGE_KINDS(X, sums, scatter)

/* By all blocks of a kernel. */
#define WSH_IMAGE_WIDE(X)                 \
    X(wide, exchange_wide)                \
    X(wide, broadcast_wide)               \
    X(wide, alltoallv)                    \
    WSH_IMAGE_KINDS(X, wide, reduce_wide) \
    WSH_IMAGE_KINDS(X, wide, scatter_wide)

#define WSH_IMAGE_KERNELS(X) WSH_IMAGE_MOVES(X) WSH_IMAGE_SUMS(X) WSH_IMAGE_WIDE(X)
#define WSH_IMAGE_PARTS(X) X(moves) X(sums) X(wide)

#define WSH_IMAGE_NUMBER(PART, NAME) WSH_IMAGE_##NAME,
enum wsh_image_number { WSH_IMAGE_KERNELS(WSH_IMAGE_NUMBER) WSH_IMAGE_N };
#undef WSH_IMAGE_NUMBER

#endif
