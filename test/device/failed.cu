/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels and PEs that fail while the others go on (SHMEM_ON_PE_FAILURE=continue): waits with a limit end with what has
 * come, the time, or the failure; by a thread, a warp and a block, of words, sets, signals and counters. The last PE is
 * killed while the others wait for it in kernels, in a barrier and a sum of the world, in kernels and on streams, and
 * in collectives of a team that it is no member of, which go on right. For test/device/failed.sh.
 */
#include "test/device/dev.cuh"

#include <signal.h>
#include <unistd.h>

enum { WORDS = 40, COLUMNS = 1000, AFTER = 3 };

struct found {
    int result[SCOPES], over[SCOPES], set[SCOPES], counted[SCOPES];
    size_t index[SCOPES], n[SCOPES];
    unsigned long long generation, ns;
    int failed, broken, team_broken;
};

static __device__ unsigned long long now_ns()
{
    unsigned long long ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

DEV_SCOPED(barrier_all)
DEV_SCOPED(long_sum_reduce)

#define SCOPED(name)                                                  \
    template <int S, class... ARGS> __device__ auto x_##name(ARGS... args) \
    {                                                                 \
        if constexpr (S == THREAD)                                    \
            return shmemx_##name(args...);                            \
        else if constexpr (S == WARP)                                 \
            return shmemx_##name##_warp(args...);                     \
        else                                                          \
            return shmemx_##name##_block(args...);                    \
    }
SCOPED(int_wait_until_timeout)
SCOPED(long_wait_until_any_timeout)
SCOPED(uint32_wait_until_all_timeout)
SCOPED(uint64_wait_until_some_vector_timeout)
SCOPED(signal_wait_until_timeout)
SCOPED(counter_wait_until_timeout)

/* Nobody fails: what is there, and what does not come. */
template <int S>
__global__ void limits(int *word, long *set, uint64_t *values, size_t *indices, uint64_t *signal,
                       shmemx_counter_t counter, struct dev_report *report)
{
    unsigned long long began = now_ns();
    uint64_t held = 0;
    size_t index = 0, n = 0;
    const int *nothing = nullptr;

    dev_expect(report, 1, SHMEMX_WAIT_SATISFIED, x_int_wait_until_timeout<S>(word, SHMEM_CMP_LT, 0, 1.0));
    dev_expect(report, 2, SHMEMX_WAIT_TIMEOUT, x_int_wait_until_timeout<S>(word, SHMEM_CMP_GT, 0, 0.02));
    dev_expect(report, 3, 1, now_ns() - began >= 20000000);
    dev_expect(report, 4, SHMEMX_WAIT_TIMEOUT, x_int_wait_until_timeout<S>(word, SHMEM_CMP_GT, 0, 0.0));
    dev_expect(report, 5, SHMEMX_WAIT_SATISFIED,
               x_long_wait_until_any_timeout<S>(set, (size_t)WORDS, nothing, SHMEM_CMP_EQ, 7L, 1.0, &index));
    dev_expect(report, 6, 33, index);
    dev_expect(report, 7, SHMEMX_WAIT_TIMEOUT,
               x_long_wait_until_any_timeout<S>(set, (size_t)WORDS, nothing, SHMEM_CMP_EQ, 8L, 0.01, &index));
    dev_expect(report, 8, (size_t)-1, index);
    dev_expect(report, 9, SHMEMX_WAIT_SATISFIED,
               x_uint64_wait_until_some_vector_timeout<S>((uint64_t *)set, (size_t)WORDS, indices, (const int *)nullptr,
                                                          SHMEM_CMP_EQ, (const uint64_t *)values, 1.0, &n));
    dev_expect(report, 10, 2, n);
    dev_expect(report, 11, 3 + 100 * 33, indices[0] + 100 * indices[1]);
    dev_expect(report, 12, SHMEMX_WAIT_TIMEOUT,
               x_uint32_wait_until_all_timeout<S>((uint32_t *)set, (size_t)WORDS, (const int *)nullptr, SHMEM_CMP_EQ,
                                                  (uint32_t)0, 0.01));
    dev_expect(report, 13, SHMEMX_WAIT_SATISFIED,
               x_signal_wait_until_timeout<S>(signal, SHMEM_CMP_GE, (uint64_t)5, 1.0, &held));
    dev_expect(report, 14, 5, held);
    dev_expect(report, 15, SHMEMX_WAIT_SATISFIED, x_counter_wait_until_timeout<S>(counter, (uint64_t)0, 1.0));
    dev_expect(report, 16, SHMEMX_WAIT_TIMEOUT, x_counter_wait_until_timeout<S>(counter, (uint64_t)1, 0.01));
    dev_expect(report, 17, 0, shmemx_failure_generation());
    dev_expect(report, 18, 0, shmemx_pe_failed(shmem_n_pes() - 1));
    dev_expect(report, 19, 0, shmemx_team_broken(SHMEM_TEAM_WORLD));
}

/* The last PE is killed meanwhile. */
template <int S>
__global__ void fails(int *word, shmem_team_t others, struct dev_report *report, unsigned long long *ns)
{
    dev_expect(report, 20, SHMEMX_WAIT_FAILURE, x_int_wait_until_timeout<S>(word, SHMEM_CMP_EQ, 99, 15.0));
    if (threadIdx.x == 0)
        *ns = now_ns();
    dev_expect(report, 21, 1, shmemx_failure_generation());
    dev_expect(report, 22, 1, shmemx_pe_failed(shmem_n_pes() - 1));
    dev_expect(report, 23, 0, shmemx_pe_failed(0));
    dev_expect(report, 24, 1, shmemx_team_broken(SHMEM_TEAM_WORLD));
    dev_expect(report, 25, 0, shmemx_team_broken(others));
    dev_expect(report, 26, (unsigned)-1, (unsigned)shmemx_team_broken(SHMEM_TEAM_INVALID));
}

/* The world's end; those of the others are right. */
template <int S>
__global__ void collectives(long *dest, long *source, shmem_team_t others, int turns, struct dev_report *report)
{
    for (int turn = 0; turn < turns; turn++) {
        dev_barrier_all<S>();
        dev_long_sum_reduce<S>(SHMEM_TEAM_WORLD, dest, (const long *)source, (size_t)(turn % 2 ? 4 : COLUMNS));
        if (others != SHMEM_TEAM_INVALID) {
            dev_long_sum_reduce<S>(others, dest, (const long *)source, (size_t)(turn % 2 ? 4 : COLUMNS));
            dev_expect(report, 30, (unsigned long long)shmem_team_n_pes(others), (unsigned long long)dest[3]);
        }
    }
}

static long *source, *dest, *set;
static int *word;
static uint64_t *values, *signal_word;
static size_t *indices;
static shmemx_counter_t counter;
static shmem_team_t others;
static struct dev_report *report;

static void fill(void)
{
    long ones[COLUMNS], numbers[WORDS] = {0};
    uint64_t wanted[WORDS], five = 5;
    int minus = -3;

    for (int i = 0; i < COLUMNS; i++)
        ones[i] = 1;
    numbers[33] = 7;
    numbers[3] = 12;
    for (int i = 0; i < WORDS; i++)
        wanted[i] = i == 33 ? 7 : i == 3 ? 12 : 1;
    dev_upload(source, ones, sizeof ones);
    dev_upload(set, numbers, sizeof numbers);
    dev_upload(values, wanted, sizeof wanted);
    dev_upload(signal_word, &five, sizeof five);
    dev_upload(word, &minus, sizeof minus);
}

/* The last PE is gone, which had no kernel running. */
template <int S> static void run_world(void)
{
    collectives<S><<<1, dev_threads[S]>>>(dest, source, others, AFTER, report);
    mp_check(dev_wait(), "collectives of the world, by a %s", dev_scope_name[S]);
    dev_check_report(report, "collectives");
}

int main(void)
{
    unsigned long long *ns;
    int last;

    dev_begin();
    last = mp_npes - 1;
    source = (long *)dev_alloc(sizeof(long) * COLUMNS);
    dest = (long *)dev_alloc(sizeof(long) * COLUMNS);
    set = (long *)dev_alloc(sizeof(long) * WORDS);
    word = (int *)dev_alloc(sizeof(int));
    values = (uint64_t *)dev_alloc(sizeof(uint64_t) * WORDS);
    signal_word = (uint64_t *)dev_alloc(sizeof(uint64_t));
    indices = (size_t *)dev_alloc(sizeof(size_t) * WORDS);
    report = (struct dev_report *)dev_share(sizeof *report);
    ns = (unsigned long long *)dev_share(sizeof *ns);
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter), "a counter");
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, last, NULL, 0, &others);
    fill();
    shmem_barrier_all();
    DEV_EACH_SCOPE({
        limits<S><<<1, dev_threads[S]>>>(word, set, values, indices, signal_word, counter, report);
        mp_check(dev_wait(), "waits with a limit, by a %s", dev_scope_name[S]);
        dev_check_report(report, "waits with a limit");
    });
    shmem_barrier_all();
    if (mp_me == last) {
        usleep(300000);
        raise(SIGKILL);
    }
    fails<WARP><<<1, 32>>>(word, others, report, ns);
    mp_check(dev_wait(), "a wait for who fails");
    dev_check_report(report, "a wait for who fails");
    DEV_EACH_SCOPE(run_world<S>());
    mp_check(shmemx_team_broken(SHMEM_TEAM_WORLD) == 1, "the world is not broken");
    shmemx_barrier_all_on_stream(0);
    mp_check(!shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, dest, source, 4, 0), "a sum on a stream");
    mp_check(dev_wait(), "collectives of the world on a stream");
    mp_check(!shmemx_long_sum_reduce_on_stream(others, dest, source, COLUMNS, 0), "a sum of the others");
    mp_check(dev_wait(), "a sum of the others on a stream");
    printf("went on\n");
    fflush(stdout);
    if (mp_end())
        return MP_FAILED;
    return MP_PASSED;
}
