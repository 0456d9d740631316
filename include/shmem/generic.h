/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C11 type-generic forms of OpenSHMEM 1.6 (section 5). Each is a macro that takes the arguments of the typed
 * routine, with or without a context in front, and calls the routine for the type that the first pointer argument
 * points to, qualifiers aside; contracts are those of the typed routines. A type that the routine lacks is an error of
 * the compiler. C++, and C before 2011, use the typed names; so does a program that defines WSH_NO_GENERIC before
 * shmem.h.
 */
#ifndef WSH_SHMEM_GENERIC_H
#define WSH_SHMEM_GENERIC_H

#include <shmem/types.h>

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__cplusplus) && \
    !defined(WSH_NO_GENERIC)

/*
 * Rows of a selection; OP is the routine's name after the type, beginning with '_' so that no macro
 * of the program matches it.
 */
#define WSH_GENERIC_ROW(NAME, TYPE, OP) , TYPE : shmem_##NAME##OP
#define WSH_GENERIC_CTX_ROW(NAME, TYPE, OP) , TYPE : shmem_ctx_##NAME##OP

/*
 * `*(pointer)` as controlling expression is not evaluated, and its value has no qualifiers. Where 0 or NULL stands for
 * the pointer its type is void, as for a void *, and the compiler says that no routine is for that.
 */
#define WSH_GENERIC_POINTEE(pointer) *(1 ? (pointer) : (void *)0)
#define WSH_GENERIC_PLAIN(TABLE, OP, pointer, ...) \
    _Generic(WSH_GENERIC_POINTEE(pointer) TABLE(WSH_GENERIC_ROW, OP))(pointer, __VA_ARGS__)
#define WSH_GENERIC_CTX(TABLE, OP, ctx, pointer, ...) \
    _Generic(WSH_GENERIC_POINTEE(pointer) TABLE(WSH_GENERIC_CTX_ROW, OP))(ctx, pointer, __VA_ARGS__)
#define WSH_GENERIC_TEAM(TABLE, OP, team, pointer, ...) \
    _Generic(WSH_GENERIC_POINTEE(pointer) TABLE(WSH_GENERIC_ROW, OP))(team, pointer, __VA_ARGS__)

/* One or two arguments too few: the compiler's line is this name. */
#define WSH_GENERIC_FEW(TABLE, OP, ...) arguments_are_missing_such_as_the_PE_at_the_end

/* WSH_GENERIC_<n>: for a routine of n arguments, n + 1 with a context. */
#define WSH_PICK_3(a, b, c, picked, ...) picked
#define WSH_PICK_4(a, b, c, d, picked, ...) picked
#define WSH_PICK_5(a, b, c, d, e, picked, ...) picked
#define WSH_PICK_6(a, b, c, d, e, f, picked, ...) picked
#define WSH_PICK_7(a, b, c, d, e, f, g, picked, ...) picked
#define WSH_PICK_8(a, b, c, d, e, f, g, h, picked, ...) picked

#define WSH_GENERIC_2(TABLE, OP, ...)                                                                \
    WSH_PICK_3(__VA_ARGS__, WSH_GENERIC_CTX, WSH_GENERIC_PLAIN, WSH_GENERIC_FEW, WSH_GENERIC_FEW, 0) \
    (TABLE, OP, __VA_ARGS__)
#define WSH_GENERIC_3(TABLE, OP, ...)                                                                \
    WSH_PICK_4(__VA_ARGS__, WSH_GENERIC_CTX, WSH_GENERIC_PLAIN, WSH_GENERIC_FEW, WSH_GENERIC_FEW, 0) \
    (TABLE, OP, __VA_ARGS__)
#define WSH_GENERIC_4(TABLE, OP, ...)                                                                \
    WSH_PICK_5(__VA_ARGS__, WSH_GENERIC_CTX, WSH_GENERIC_PLAIN, WSH_GENERIC_FEW, WSH_GENERIC_FEW, 0) \
    (TABLE, OP, __VA_ARGS__)
#define WSH_GENERIC_5(TABLE, OP, ...)                                                                \
    WSH_PICK_6(__VA_ARGS__, WSH_GENERIC_CTX, WSH_GENERIC_PLAIN, WSH_GENERIC_FEW, WSH_GENERIC_FEW, 0) \
    (TABLE, OP, __VA_ARGS__)
#define WSH_GENERIC_6(TABLE, OP, ...)                                                                \
    WSH_PICK_7(__VA_ARGS__, WSH_GENERIC_CTX, WSH_GENERIC_PLAIN, WSH_GENERIC_FEW, WSH_GENERIC_FEW, 0) \
    (TABLE, OP, __VA_ARGS__)
#define WSH_GENERIC_7(TABLE, OP, ...)                                                                \
    WSH_PICK_8(__VA_ARGS__, WSH_GENERIC_CTX, WSH_GENERIC_PLAIN, WSH_GENERIC_FEW, WSH_GENERIC_FEW, 0) \
    (TABLE, OP, __VA_ARGS__)

/* Puts and gets, shmem/rma.h: section 9.6. */
#define shmem_put(...) WSH_GENERIC_4(WSH_RMA_DISTINCT, _put, __VA_ARGS__)
#define shmem_get(...) WSH_GENERIC_4(WSH_RMA_DISTINCT, _get, __VA_ARGS__)
#define shmem_put_nbi(...) WSH_GENERIC_4(WSH_RMA_DISTINCT, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) WSH_GENERIC_4(WSH_RMA_DISTINCT, _get_nbi, __VA_ARGS__)
#define shmem_p(...) WSH_GENERIC_3(WSH_RMA_DISTINCT, _p, __VA_ARGS__)
#define shmem_g(...) WSH_GENERIC_2(WSH_RMA_DISTINCT, _g, __VA_ARGS__)
#define shmem_iput(...) WSH_GENERIC_6(WSH_RMA_DISTINCT, _iput, __VA_ARGS__)
#define shmem_iget(...) WSH_GENERIC_6(WSH_RMA_DISTINCT, _iget, __VA_ARGS__)
#define shmem_ibput(...) WSH_GENERIC_7(WSH_RMA_DISTINCT, _ibput, __VA_ARGS__)
#define shmem_ibget(...) WSH_GENERIC_7(WSH_RMA_DISTINCT, _ibget, __VA_ARGS__)

/* Atomic memory operations, shmem/amo.h: section 9.7.1. */
#define shmem_atomic_fetch(...) WSH_GENERIC_2(WSH_AMO_EXTENDED_DISTINCT, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) WSH_GENERIC_3(WSH_AMO_EXTENDED_DISTINCT, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) WSH_GENERIC_3(WSH_AMO_EXTENDED_DISTINCT, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) WSH_GENERIC_4(WSH_AMO_DISTINCT, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) WSH_GENERIC_2(WSH_AMO_DISTINCT, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) WSH_GENERIC_2(WSH_AMO_DISTINCT, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) WSH_GENERIC_3(WSH_AMO_DISTINCT, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) WSH_GENERIC_3(WSH_AMO_DISTINCT, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) WSH_GENERIC_3(WSH_AMO_BITWISE_DISTINCT, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) WSH_GENERIC_3(WSH_AMO_BITWISE_DISTINCT, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) WSH_GENERIC_3(WSH_AMO_BITWISE_DISTINCT, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) WSH_GENERIC_3(WSH_AMO_BITWISE_DISTINCT, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) WSH_GENERIC_3(WSH_AMO_BITWISE_DISTINCT, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) WSH_GENERIC_3(WSH_AMO_BITWISE_DISTINCT, _atomic_xor, __VA_ARGS__)

/* Nonblocking atomic memory operations, shmem/amo.h: section 9.7.2. */
#define shmem_atomic_fetch_nbi(...) WSH_GENERIC_3(WSH_AMO_EXTENDED_DISTINCT, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) WSH_GENERIC_4(WSH_AMO_EXTENDED_DISTINCT, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) \
    WSH_GENERIC_5(WSH_AMO_DISTINCT, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) WSH_GENERIC_3(WSH_AMO_DISTINCT, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) WSH_GENERIC_4(WSH_AMO_DISTINCT, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) \
    WSH_GENERIC_4(WSH_AMO_BITWISE_DISTINCT, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) \
    WSH_GENERIC_4(WSH_AMO_BITWISE_DISTINCT, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) \
    WSH_GENERIC_4(WSH_AMO_BITWISE_DISTINCT, _atomic_fetch_xor_nbi, __VA_ARGS__)

/* Atomic memory operations under their deprecated names, shmem/amo.h: section 9.7.1. */
#define shmem_fetch(...) WSH_GENERIC_PLAIN(WSH_AMO_OLD_EXTENDED_DISTINCT, _fetch, __VA_ARGS__)
#define shmem_set(...) WSH_GENERIC_PLAIN(WSH_AMO_OLD_EXTENDED_DISTINCT, _set, __VA_ARGS__)
#define shmem_swap(...) WSH_GENERIC_PLAIN(WSH_AMO_OLD_EXTENDED_DISTINCT, _swap, __VA_ARGS__)
#define shmem_cswap(...) WSH_GENERIC_PLAIN(WSH_AMO_OLD_DISTINCT, _cswap, __VA_ARGS__)
#define shmem_finc(...) WSH_GENERIC_PLAIN(WSH_AMO_OLD_DISTINCT, _finc, __VA_ARGS__)
#define shmem_inc(...) WSH_GENERIC_PLAIN(WSH_AMO_OLD_DISTINCT, _inc, __VA_ARGS__)
#define shmem_fadd(...) WSH_GENERIC_PLAIN(WSH_AMO_OLD_DISTINCT, _fadd, __VA_ARGS__)
#define shmem_add(...) WSH_GENERIC_PLAIN(WSH_AMO_OLD_DISTINCT, _add, __VA_ARGS__)

/*
 * Puts with signal and signal operations, shmem/signal.h: section 9.8. signal_add and signal_set are functions too: the
 * name without '(' is the function's.
 */
#define shmem_put_signal(...) WSH_GENERIC_7(WSH_RMA_DISTINCT, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) WSH_GENERIC_7(WSH_RMA_DISTINCT, _put_signal_nbi, __VA_ARGS__)
#define shmem_signal_add(...) WSH_PICK_4(__VA_ARGS__, shmem_ctx_signal_add, shmem_signal_add, 0)(__VA_ARGS__)
#define shmem_signal_set(...) WSH_PICK_4(__VA_ARGS__, shmem_ctx_signal_set, shmem_signal_set, 0)(__VA_ARGS__)

/*
 * Collectives, shmem/coll.h: section 9.10. shmem_sync with one argument is the team's routine, with four that of active
 * sets.
 */
#define shmem_sync(...) WSH_PICK_4(__VA_ARGS__, shmem_sync, 0, 0, shmem_team_sync, 0)(__VA_ARGS__)
#define shmem_broadcast(...) WSH_GENERIC_TEAM(WSH_RMA_DISTINCT, _broadcast, __VA_ARGS__)
#define shmem_collect(...) WSH_GENERIC_TEAM(WSH_RMA_DISTINCT, _collect, __VA_ARGS__)
#define shmem_fcollect(...) WSH_GENERIC_TEAM(WSH_RMA_DISTINCT, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) WSH_GENERIC_TEAM(WSH_RMA_DISTINCT, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) WSH_GENERIC_TEAM(WSH_RMA_DISTINCT, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) WSH_GENERIC_TEAM(WSH_REDUCE_BITWISE_DISTINCT, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) WSH_GENERIC_TEAM(WSH_REDUCE_BITWISE_DISTINCT, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) WSH_GENERIC_TEAM(WSH_REDUCE_BITWISE_DISTINCT, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) WSH_GENERIC_TEAM(WSH_REDUCE_ORDERED_DISTINCT, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) WSH_GENERIC_TEAM(WSH_REDUCE_ORDERED_DISTINCT, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) WSH_GENERIC_TEAM(WSH_REDUCE_ARITHMETIC_DISTINCT, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) WSH_GENERIC_TEAM(WSH_REDUCE_ARITHMETIC_DISTINCT, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) WSH_GENERIC_TEAM(WSH_REDUCE_ARITHMETIC_DISTINCT, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) WSH_GENERIC_TEAM(WSH_REDUCE_ARITHMETIC_DISTINCT, _sum_exscan, __VA_ARGS__)

/* Point-to-point synchronization, shmem/p2p.h: section 9.11. */
#define shmem_wait_until(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) \
    WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) \
    WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) \
    WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _test, __VA_ARGS__)
#define shmem_test_all(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _test_all, __VA_ARGS__)
#define shmem_test_any(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _test_any, __VA_ARGS__)
#define shmem_test_some(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) WSH_GENERIC_PLAIN(WSH_P2P_DISTINCT, _test_some_vector, __VA_ARGS__)

#endif
#endif
