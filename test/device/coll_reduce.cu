/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions in kernels: every operation on every kind of number, at each scope, small and large, in place, as
 * reduce-scatter, with the result that the host works out; the same bits at all members.
 * paths: gpu:1,2,4 gpuipc:2,4 gpu1:2,4,8
 * timeout: 600
 */
#include "test/device/coll.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdlib.h>

struct arrays {
    void *dest, *source;
    struct dev_report *report;
};

enum form { APART, IN_PLACE, SCATTER };

/* Small whole numbers, so that no order of additions and no type rounds. Never 0. */
static __host__ __device__ inline int number(int from, size_t i)
{
    return (int)((i + 3 * (size_t)from) % 3) + 1;
}

/* By integers: what the operation gives for all members. */
enum op { SUM, PROD, MIN, MAX, AND, OR, XOR };

static __device__ int expected(int op, int n_pes, size_t i)
{
    int result = number(0, i);

    for (int from = 1; from < n_pes; from++) {
        int value = number(from, i);

        result = op == SUM    ? result + value
                 : op == PROD ? result * value
                 : op == MIN  ? min(result, value)
                 : op == MAX  ? max(result, value)
                 : op == AND  ? result & value
                 : op == OR   ? result | value
                              : result ^ value;
    }
    return result;
}

/* CALL(TYPE, NAME, OP): the routines of one operation, at scope S. */
#define ROUTINES(NAME, TYPE, OP)                                                                             \
    template <int S> struct NAME##_##OP {                                                                    \
        typedef TYPE type;                                                                                   \
        static __device__ void call(int form, shmem_team_t team, TYPE *dest, const TYPE *source, size_t n)   \
        {                                                                                                    \
            if constexpr (S == THREAD)                                                                       \
                form == SCATTER ? shmemx_##NAME##_##OP##_reducescatter(team, dest, source, n)                \
                                : shmem_##NAME##_##OP##_reduce(team, dest, source, n);                       \
            else if constexpr (S == WARP)                                                                    \
                form == SCATTER ? shmemx_##NAME##_##OP##_reducescatter_warp(team, dest, source, n)           \
                                : shmem_##NAME##_##OP##_reduce_warp(team, dest, source, n);                  \
            else                                                                                             \
                form == SCATTER ? shmemx_##NAME##_##OP##_reducescatter_block(team, dest, source, n)          \
                                : shmem_##NAME##_##OP##_reduce_block(team, dest, source, n);                 \
        }                                                                                                    \
    };

/* n elements of the result; a barrier before and after each use of the arrays. */
template <class R> __global__ void reduce(int op, int form, shmem_team_t team, struct arrays a, size_t n)
{
    typedef typename R::type T;
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);
    T *source = (T *)a.source, *dest = form == IN_PLACE ? source : (T *)a.dest;
    size_t all = form == SCATTER ? n * (size_t)n_pes : n, mine = form == SCATTER ? n * (size_t)me : 0;

    for (size_t i = threadIdx.x; i < all; i += blockDim.x)
        source[i] = (T)number(me, i);
    __syncthreads();
    R::call(form, team, dest, source, n);
    __syncthreads();
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        dev_expect(a.report, i, (unsigned long long)expected(op, n_pes, mine + i),
                   (unsigned long long)(float)dest[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        shmem_team_sync(team);
}

template <class R> static void lengths(int op, int s, const struct coll_team &team, const struct arrays &a,
                                       const char *what)
{
    for (size_t n : {(size_t)0, (size_t)1, (size_t)5, (size_t)129, (size_t)COLL_MAX})
        for (int form = APART; form <= SCATTER; form++) {
            reduce<R><<<1, dev_threads[s]>>>(op, form, team.handle, a, n);
            dev_check_report(a.report, what);
        }
}

/* Types by width, sign and kind; products of 8 members of at most 3 stay below 2^13, and are left out of bytes. */
#define ARITHMETIC(X, NAME, TYPE) X(NAME, TYPE, sum, SUM) X(NAME, TYPE, min, MIN) X(NAME, TYPE, max, MAX)
#define BITWISE(X, NAME, TYPE) X(NAME, TYPE, and, AND) X(NAME, TYPE, or, OR) X(NAME, TYPE, xor, XOR)
#define EVERY(X)                                                                       \
    ARITHMETIC(X, int8, int8_t) ARITHMETIC(X, short, short) ARITHMETIC(X, int, int)    \
    ARITHMETIC(X, longlong, long long) ARITHMETIC(X, float, float)                     \
    ARITHMETIC(X, double, double) ARITHMETIC(X, half, __half)                          \
    ARITHMETIC(X, bfloat16, __nv_bfloat16)                                             \
    X(uint16, uint16_t, prod, PROD) X(int, int, prod, PROD) X(int64, int64_t, prod, PROD) \
    X(float, float, prod, PROD) X(double, double, prod, PROD)                          \
    BITWISE(X, uchar, unsigned char) BITWISE(X, uint16, uint16_t)                      \
    BITWISE(X, uint, unsigned int) BITWISE(X, uint64, uint64_t)

#define DEFINE(NAME, TYPE, OP, CODE) ROUTINES(NAME, TYPE, OP)
EVERY(DEFINE)
#undef DEFINE

/* What does not depend on the scope is seen by blocks: threads and warps have one type of each kind and width. */
template <int S> static void every(const struct coll_team &team, const struct arrays &a)
{
#define RUN(NAME, TYPE, OP, CODE) lengths<NAME##_##OP<S>>(CODE, S, team, a, #NAME "_" #OP "_reduce");
    if constexpr (S == BLOCK) {
        EVERY(RUN)
    } else {
        RUN(int8, int8_t, sum, SUM) RUN(short, short, max, MAX) RUN(int, int, min, MIN)
        RUN(int64, int64_t, prod, PROD) RUN(double, double, sum, SUM) RUN(half, __half, sum, SUM)
        RUN(uint64, uint64_t, xor, XOR)
    }
#undef RUN
}

/* Numbers that do round: all members get the same bits, whoever has worked them out. */
template <int S> __global__ void same_bits(struct arrays a, size_t n)
{
    float *source = (float *)a.source, *dest = (float *)a.dest;
    unsigned *sums = (unsigned *)(dest + n), *all = sums + n;

    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        source[i] = 1.0f / (float)(coll_value(1, shmem_my_pe(), 0, i) % 9973 + 1);
    __syncthreads();
    float_sum<S>::call(APART, SHMEM_TEAM_WORLD, dest, source, n);
    __syncthreads();
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        sums[i] = __float_as_uint(dest[i]);
    __syncthreads();
    shmem_uint_fcollect_block(SHMEM_TEAM_WORLD, all, sums, n);
    for (size_t i = threadIdx.x; i < n * (size_t)shmem_n_pes(); i += blockDim.x)
        dev_expect(a.report, i, sums[i % n], all[i]);
    __syncthreads();
    shmem_barrier_all_block();
}

template <int S> static void each_team(const struct coll_team *teams, const struct arrays &a)
{
    for (int i = 0; i < COLL_TEAMS; i++) {
        dev_case("%s scope, team %s", dev_scope_name[S], teams[i].name);
        if (teams[i].handle != SHMEM_TEAM_INVALID && (i == 0 || S != THREAD))
            every<S>(teams[i], a);
        dev_wait();
        shmem_barrier_all();
    }
    dev_case("%s scope, the same bits", dev_scope_name[S]);
    for (size_t n : {(size_t)3, (size_t)100, (size_t)COLL_MAX}) {
        same_bits<S><<<1, dev_threads[S]>>>(a, n);
        dev_check_report(a.report, "the same bits");
    }
}

int main(void)
{
    struct coll_team teams[COLL_TEAMS];
    struct arrays a;
    size_t len;

    dev_begin();
    dev_case("teams");
    len = (size_t)(shmem_n_pes() + 2) * COLL_MAX * sizeof(double);
    a.report = (struct dev_report *)dev_share(sizeof *a.report);
    a.dest = dev_alloc(len);
    a.source = dev_alloc(len);
    coll_split(teams);
    DEV_EACH_SCOPE(each_team<S>(teams, a));
    coll_split_end(teams);
    return dev_end();
}
