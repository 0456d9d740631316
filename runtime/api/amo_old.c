/* SPDX-License-Identifier: BSD-3-Clause */
/* The atomics' deprecated public names (section 9.7.1), which have no context. */
#include "runtime/api/amo_shell.h"

/* clang-format off */

/* shmem_TAG, which gives the old value. SIDE: its symmetric argument, OP: what it does. */
#define WSH_OLD_FETCHING(TAG, TYPE, ARGS, SIDE, OP)                                        \
    WSH_SHELL(TYPE, TAG, ARGS)                                                             \
    {                                                                                      \
        TYPE old;                                                                          \
        word_amo("shmem_" #TAG ": " #SIDE, wsh_amo, SHMEM_CTX_DEFAULT, SIDE, OP, &old, pe);     \
        return old;                                                                        \
    }

#define WSH_OLD_PLAIN(TAG, ARGS, OP)                                                       \
    WSH_SHELL(void, TAG, ARGS)                                                             \
    {                                                                                      \
        word_amo("shmem_" #TAG ": dest", wsh_amo, SHMEM_CTX_DEFAULT, dest, OP, NULL, pe);       \
    }

#define WSH_EXTENDED(NAME, TYPE)                                                           \
    WSH_OLD_FETCHING(NAME##_fetch, TYPE, (const TYPE *source, int pe), source,             \
                     WSH_OP(FETCH, TYPE, 0, 0))                                            \
    WSH_OLD_PLAIN(NAME##_set, (TYPE *dest, TYPE value, int pe),                            \
                  WSH_OP(SET, TYPE, WSH_BITS(value), 0))                                   \
    WSH_OLD_FETCHING(NAME##_swap, TYPE, (TYPE *dest, TYPE value, int pe), dest,            \
                     WSH_OP(SWAP, TYPE, WSH_BITS(value), 0))
WSH_AMO_OLD_EXTENDED_TYPES(WSH_EXTENDED)
#undef WSH_EXTENDED

#define WSH_STANDARD(NAME, TYPE)                                                           \
    WSH_OLD_FETCHING(NAME##_cswap, TYPE, (TYPE *dest, TYPE cond, TYPE value, int pe), dest, \
                     WSH_OP(CSWAP, TYPE, WSH_BITS(value), WSH_BITS(cond)))                 \
    WSH_OLD_FETCHING(NAME##_finc, TYPE, (TYPE *dest, int pe), dest, WSH_OP(ADD, TYPE, 1, 0)) \
    WSH_OLD_PLAIN(NAME##_inc, (TYPE *dest, int pe), WSH_OP(ADD, TYPE, 1, 0))               \
    WSH_OLD_FETCHING(NAME##_fadd, TYPE, (TYPE *dest, TYPE value, int pe), dest,            \
                     WSH_OP(ADD, TYPE, WSH_BITS(value), 0))                                \
    WSH_OLD_PLAIN(NAME##_add, (TYPE *dest, TYPE value, int pe),                            \
                  WSH_OP(ADD, TYPE, WSH_BITS(value), 0))
WSH_AMO_OLD_TYPES(WSH_STANDARD)
#undef WSH_STANDARD
#undef WSH_OLD_FETCHING
#undef WSH_OLD_PLAIN
