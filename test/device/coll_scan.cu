/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans in kernels at each scope and on streams: inscan and exscan, every kind of number, small and large, apart and in
 * place, on teams of every shape.
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

/* A call: of how many elements, and how. */
struct form {
    size_t n;
    bool exclusive, in_place;
};

/* Small whole numbers, so that no type rounds. Never 0. */
static __device__ int number(int from, size_t i)
{
    return (int)((i + 3 * (size_t)from) % 5) + 1;
}

#define ROUTINES(NAME, TYPE)                                                                                   \
    struct NAME##_scan {                                                                                       \
        typedef TYPE type;                                                                                     \
        template <int S> static __device__ void call(bool exclusive, shmem_team_t team, TYPE *dest, TYPE *source, \
                                                     size_t n)                                                 \
        {                                                                                                      \
            if constexpr (S == THREAD)                                                                         \
                exclusive ? shmem_##NAME##_sum_exscan(team, dest, source, n)                                   \
                          : shmem_##NAME##_sum_inscan(team, dest, source, n);                                  \
            else if constexpr (S == WARP)                                                                      \
                exclusive ? shmem_##NAME##_sum_exscan_warp(team, dest, source, n)                              \
                          : shmem_##NAME##_sum_inscan_warp(team, dest, source, n);                             \
            else                                                                                               \
                exclusive ? shmem_##NAME##_sum_exscan_block(team, dest, source, n)                             \
                          : shmem_##NAME##_sum_inscan_block(team, dest, source, n);                            \
        }                                                                                                      \
        static int on_stream(bool exclusive, shmem_team_t team, TYPE *dest, TYPE *source, size_t n)            \
        {                                                                                                      \
            return exclusive ? shmemx_##NAME##_sum_exscan_on_stream(team, dest, source, n, 0)                  \
                             : shmemx_##NAME##_sum_inscan_on_stream(team, dest, source, n, 0);                 \
        }                                                                                                      \
    };
#define EVERY(X)                                                                                  \
    X(int8, int8_t) X(short, short) X(uint, unsigned int) X(long, long) X(float, float)           \
    X(double, double) X(half, __half) X(bfloat16, __nv_bfloat16)
EVERY(ROUTINES)
#undef ROUTINES

template <class T> static __device__ void fill(T *source, int me, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        source[i] = (T)number(me, i);
}

template <class T> static __device__ void look(struct dev_report *report, const T *dest, int last, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
        int sum = 0;

        for (int from = 0; from <= last; from++)
            sum += number(from, i);
        dev_expect(report, i, (unsigned long long)sum, (unsigned long long)(float)dest[i]);
    }
}

/* S: SCOPES stands for a call on a stream, between kernels that fill and look. */
template <class R, int S> __global__ void scan(shmem_team_t team, struct arrays a, struct form form, bool fills)
{
    typedef typename R::type T;
    T *source = (T *)a.source, *dest = form.in_place ? source : (T *)a.dest;
    int me = shmem_team_my_pe(team);

    if (fills)
        fill(source, me, form.n);
    __syncthreads();
    if constexpr (S < SCOPES) {
        R::template call<S>(form.exclusive, team, dest, source, form.n);
        __syncthreads();
    }
    if (S < SCOPES || !fills) {
        look(a.report, dest, form.exclusive ? me - 1 : me, form.n);
        __syncthreads();
        if (threadIdx.x == 0)
            shmem_team_sync(team);
    }
}

template <class R, int S> static void once(const struct coll_team &team, const struct arrays &a, struct form form)
{
    typedef typename R::type T;

    scan<R, S><<<1, S < SCOPES ? dev_threads[S % SCOPES] : 256>>>(team.handle, a, form, true);
    if (S < SCOPES)
        return;
    mp_check(R::on_stream(form.exclusive, team.handle, (T *)(form.in_place ? a.source : a.dest), (T *)a.source,
                          form.n) == 0,
             "a scan on a stream");
    scan<R, S><<<1, 256>>>(team.handle, a, form, false);
}

template <class R, int S> static void forms(const struct coll_team &team, const struct arrays &a, const char *what)
{
    for (size_t n : {(size_t)0, (size_t)1, (size_t)5, (size_t)129, (size_t)COLL_MAX, (size_t)16 * COLL_MAX}) {
        if (n > COLL_MAX && S < BLOCK)
            continue;
        for (int i = 0; i < 4; i++)
            once<R, S>(team, a, form{n, i % 2 != 0, i / 2 != 0});
        dev_check_report(a.report, what);
    }
}

/* Threads and warps: one type of each kind. */
template <int S> static void every(const struct coll_team &team, const struct arrays &a)
{
#define RUN(NAME, TYPE) forms<NAME##_scan, S>(team, a, #NAME " scans");
    if constexpr (S >= BLOCK) {
        EVERY(RUN)
    } else {
        RUN(short, short) RUN(uint, unsigned int) RUN(double, double) RUN(half, __half)
    }
#undef RUN
}

template <int S> static void each_team(const struct coll_team *teams, const struct arrays &a)
{
    for (int i = 0; i < COLL_TEAMS; i++) {
        dev_case("%s, team %s", S < SCOPES ? dev_scope_name[S % SCOPES] : "stream", teams[i].name);
        if (teams[i].handle != SHMEM_TEAM_INVALID && (i == 0 || S != THREAD))
            every<S>(teams[i], a);
        dev_wait();
        shmem_barrier_all();
    }
}

int main(void)
{
    struct coll_team teams[COLL_TEAMS];
    struct arrays a;
    size_t len = 16 * COLL_MAX * sizeof(double);

    setenv("SHMEM_DEVICE_EPOCH", "4294967200", 0);
    dev_begin();
    dev_case("teams");
    a.report = (struct dev_report *)dev_share(sizeof *a.report);
    a.dest = dev_alloc(len);
    a.source = dev_alloc(len);
    coll_split(teams);
    DEV_EACH_SCOPE(each_team<S>(teams, a));
    each_team<SCOPES>(teams, a);
    coll_split_end(teams);
    return dev_end();
}
