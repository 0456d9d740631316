/* SPDX-License-Identifier: BSD-3-Clause */
/* Routines, each of which is called with one wrong argument after the other. */
#include "test/mp/helper/mistakes.h"

static void call_put(struct mistake_args *a)
{
    shmem_long_put(a->sym, a->local, a->n, a->pe);
}

static void call_get(struct mistake_args *a)
{
    shmem_long_get(a->local, a->sym, a->n, a->pe);
}

static void call_put_nbi(struct mistake_args *a)
{
    shmem_long_put_nbi(a->sym, a->local, a->n, a->pe);
}

static void call_get_nbi(struct mistake_args *a)
{
    shmem_long_get_nbi(a->local, a->sym, a->n, a->pe);
}

static void call_ctx_put(struct mistake_args *a)
{
    shmem_ctx_long_put(a->ctx, a->sym, a->local, a->n, a->pe);
}

static void call_put64(struct mistake_args *a)
{
    shmem_put64(a->sym, a->local, a->n, a->pe);
}

static void call_putmem(struct mistake_args *a)
{
    shmem_putmem(a->sym, a->local, a->n, a->pe);
}

static void call_iput(struct mistake_args *a)
{
    shmem_long_iput(a->sym, a->local, a->stride, a->stride, a->n, a->pe);
}

static void call_iget(struct mistake_args *a)
{
    shmem_long_iget(a->local, a->sym, a->stride, a->stride, a->n, a->pe);
}

static void call_ibput(struct mistake_args *a)
{
    shmem_long_ibput(a->sym, a->local, a->stride, a->stride, 1, a->n, a->pe);
}

static void call_put_signal(struct mistake_args *a)
{
    shmem_long_put_signal(a->sym, a->local, a->n, a->bell, 1, SHMEM_SIGNAL_SET, a->pe);
}

static void call_p(struct mistake_args *a)
{
    shmem_long_p(a->sym, 1, a->pe);
}

static void call_g(struct mistake_args *a)
{
    a->value[0] = shmem_long_g(a->sym, a->pe);
}

static void call_atomic_add(struct mistake_args *a)
{
    shmem_long_atomic_add(a->sym, 1, a->pe);
}

static void call_atomic_fetch_nbi(struct mistake_args *a)
{
    shmem_long_atomic_fetch_nbi(a->local, a->sym, a->pe);
}

static void call_signal_set(struct mistake_args *a)
{
    shmem_signal_set((uint64_t *)a->sym, 1, a->pe);
}

static void call_wait_until(struct mistake_args *a)
{
    shmem_long_wait_until(a->sym, SHMEM_CMP_EQ, 0);
}

static void call_wait_until_all(struct mistake_args *a)
{
    shmem_long_wait_until_all(a->sym, a->n, NULL, SHMEM_CMP_EQ, 0);
}

static void call_test_any(struct mistake_args *a)
{
    shmem_long_test_any(a->sym, a->n, NULL, SHMEM_CMP_EQ, 0);
}

static void call_broadcast(struct mistake_args *a)
{
    shmem_long_broadcast(a->team, a->sym, a->source, a->n, 0);
}

static void call_collect(struct mistake_args *a)
{
    shmem_long_collect(a->team, a->sym, a->source, a->n);
}

static void call_fcollect(struct mistake_args *a)
{
    shmem_long_fcollect(a->team, a->sym, a->source, a->n);
}

static void call_alltoall(struct mistake_args *a)
{
    shmem_long_alltoall(a->team, a->sym, a->source, a->n);
}

static void call_sum_reduce(struct mistake_args *a)
{
    shmem_long_sum_reduce(a->team, a->sym, a->source, a->n);
}

static void call_max_reduce(struct mistake_args *a)
{
    shmem_long_max_reduce(a->team, a->sym, a->source, a->n);
}

static void call_sum_inscan(struct mistake_args *a)
{
    shmem_long_sum_inscan(a->team, a->sym, a->source, a->n);
}

static void call_sum_exscan(struct mistake_args *a)
{
    shmem_long_sum_exscan(a->team, a->sym, a->source, a->n);
}

static void call_alltoalls(struct mistake_args *a)
{
    shmem_long_alltoalls(a->team, a->sym, a->source, a->stride, a->stride, a->n);
}

const struct mistake_call mistake_calls[] = {
    {"put", call_put, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT},
    {"get", call_get, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT},
    {"put_nbi", call_put_nbi, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT},
    {"get_nbi", call_get_nbi, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT},
    {"ctx_put", call_ctx_put, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT},
    {"put64", call_put64, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT},
    {"putmem", call_putmem, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL},
    {"iput", call_iput, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT | MISTAKE_STRIDE},
    {"iget", call_iget, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT | MISTAKE_STRIDE},
    {"ibput", call_ibput, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT | MISTAKE_STRIDE},
    {"put_signal", call_put_signal, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_COUNT},
    {"p", call_p, MISTAKE_PE | MISTAKE_SYM},
    {"g", call_g, MISTAKE_PE | MISTAKE_SYM},
    {"atomic_add", call_atomic_add, MISTAKE_PE | MISTAKE_SYM | MISTAKE_WORD},
    {"atomic_fetch_nbi", call_atomic_fetch_nbi, MISTAKE_PE | MISTAKE_SYM | MISTAKE_LOCAL | MISTAKE_WORD},
    {"signal_set", call_signal_set, MISTAKE_PE | MISTAKE_SYM | MISTAKE_WORD},
    {"wait_until", call_wait_until, MISTAKE_SYM | MISTAKE_WORD},
    {"wait_until_all", call_wait_until_all, MISTAKE_SYM | MISTAKE_WORD | MISTAKE_COUNT},
    {"test_any", call_test_any, MISTAKE_SYM | MISTAKE_WORD | MISTAKE_COUNT},
    {"broadcast", call_broadcast, MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM},
    {"collect", call_collect, MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM},
    {"fcollect", call_fcollect, MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM},
    {"alltoall", call_alltoall, MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM},
    {"sum_reduce", call_sum_reduce, MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM},
    {"max_reduce", call_max_reduce, MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM},
    {"sum_inscan", call_sum_inscan, MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM},
    {"sum_exscan", call_sum_exscan, MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM},
    {"alltoalls", call_alltoalls,
     MISTAKE_SYM | MISTAKE_SOURCE | MISTAKE_COUNT | MISTAKE_TEAM | MISTAKE_STRIDE},
    {0},
};
