/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_until and test in kernels, with _all, _any, _some and _vector, at each scope: every comparison, status arrays,
 * empty sets, words set by a peer while the kernel waits; any is fair; what the writer ordered before is visible.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2
 * timeout: 300
 */
#include "test/device/dev.cuh"

#include <stdlib.h>

#define WORDS 100

DEV_SCOPED(int_wait_until)
DEV_SCOPED(ulong_wait_until)
DEV_SCOPED(int_test)
DEV_SCOPED(long_wait_until_all)
DEV_SCOPED(uint64_wait_until_any)
DEV_SCOPED(uint64_wait_until_some)
DEV_SCOPED(int32_test_all)
DEV_SCOPED(int32_test_any)
DEV_SCOPED(int32_test_some)
DEV_SCOPED(int_wait_until_all_vector)
DEV_SCOPED(int_wait_until_any_vector)
DEV_SCOPED(int_wait_until_some_vector)
DEV_SCOPED(int_test_all_vector)
DEV_SCOPED(int_test_any_vector)
DEV_SCOPED(int_test_some_vector)

/* Symmetric words, one array for each test, and room for results. */
struct words {
    int *one, *set, *values;
    long *longs;
    uint64_t *wide;
    int *status;
    size_t *indices;
};

/* All comparisons against a word that stays 10: in every lane the same answer. */
template <int S> __global__ void comparisons(struct words w, struct dev_report *report)
{
    static const int cmps[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_LE, SHMEM_CMP_LT, SHMEM_CMP_GE};

    for (int value = 9; value <= 11; value++)
        for (int cmp : cmps) {
            bool holds = cmp == SHMEM_CMP_EQ   ? 10 == value
                         : cmp == SHMEM_CMP_NE ? 10 != value
                         : cmp == SHMEM_CMP_GT ? 10 > value
                         : cmp == SHMEM_CMP_LE ? 10 <= value
                         : cmp == SHMEM_CMP_LT ? 10 < value
                                               : 10 >= value;

            dev_expect(report, (unsigned long long)cmp, holds, (unsigned)dev_int_test<S>(w.one, cmp, value));
            if (holds)
                dev_int_wait_until<S>(w.one, cmp, value);
        }
    dev_expect(report, 100, 1, (unsigned)dev_int_test<S>(w.one + 1, SHMEM_CMP_LT, 0)); /* -1: signed */
    dev_ulong_wait_until<S>((unsigned long *)w.longs, SHMEM_CMP_GT, 1ul << 63);
}

/* Sets of n words that stay: word i is i % 3, status leaves out every i % 5 == 0. */
template <int S> __global__ void still_sets(struct words w, size_t n, struct dev_report *report)
{
    size_t twos = 0, found;

    for (size_t i = 0; i < n; i++)
        twos += i % 3 == 2 && i % 5;
    dev_expect(report, 1, n <= 1, (unsigned)dev_int32_test_all<S>(w.set, n, w.status, SHMEM_CMP_LT, 0));
    dev_expect(report, 2, 1, (unsigned)dev_int32_test_all<S>(w.set, n, w.status, SHMEM_CMP_LE, 2));
    found = dev_int32_test_any<S>(w.set, n, w.status, SHMEM_CMP_EQ, 2);
    dev_expect(report, 3, 1, twos ? found < n && found % 3 == 2 && found % 5 : found == (size_t)-1);
    found = dev_int32_test_some<S>(w.set, n, w.indices, w.status, SHMEM_CMP_EQ, 2);
    dev_expect(report, 4, twos, found);
    for (size_t i = 0; i < found; i++)
        dev_expect(report, 5, 1, w.indices[i] < n && w.indices[i] % 3 == 2 && w.indices[i] % 5 &&
                                     (i == 0 || w.indices[i] > w.indices[i - 1]));
    dev_expect(report, 6, 1, (unsigned)dev_int_test_all_vector<S>(w.set, n, w.status, SHMEM_CMP_EQ, w.values));
    found = dev_int_test_any_vector<S>(w.set, n, w.status, SHMEM_CMP_NE, w.values);
    dev_expect(report, 7, (size_t)-1, found);
    found = dev_int_test_some_vector<S>(w.set, n, w.indices, w.status, SHMEM_CMP_EQ, w.values);
    dev_expect(report, 8, n - (n + 4) / 5, found);
    dev_int_wait_until_all_vector<S>(w.set, n, w.status, SHMEM_CMP_EQ, w.values);
    found = dev_int_wait_until_any_vector<S>(w.set, n, w.status, SHMEM_CMP_GE, w.values);
    dev_expect(report, 9, 1, n > 1 ? found < n && found % 5 : found == (size_t)-1);
    found = dev_int_wait_until_some_vector<S>(w.set, n, w.indices, w.status, SHMEM_CMP_EQ, w.values);
    dev_expect(report, 10, n - (n + 4) / 5, found);
}

/* The left PE sets the words one by one, in an order of its own, after data that each announces. */
__global__ void set_words(struct words w, size_t *data, int pe, uint64_t round)
{
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned at = (i * 37 + (unsigned)round) % WORDS;

        shmem_size_p(data + at, round * WORDS + at, pe);
        shmem_fence();
        shmem_uint64_atomic_set(w.wide + at, round, pe);
        shmem_long_atomic_set(w.longs + at, (long)round, pe);
    }
}

/* Takes each word once, by any or some, and looks at its data. */
template <int S>
__global__ void take_words(struct words w, const size_t *data, uint64_t round, bool some, struct dev_report *report)
{
    __shared__ int done[WORDS];
    size_t taken = 0;

    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x)
        w.status[i] = done[i] = 0;
    __syncthreads();
    while (taken < WORDS) {
        size_t n = 1, at = 0;

        if (some)
            n = dev_uint64_wait_until_some<S>(w.wide, WORDS, w.indices, w.status, SHMEM_CMP_GE, round);
        else
            at = dev_uint64_wait_until_any<S>(w.wide, WORDS, w.status, SHMEM_CMP_GE, round);
        for (size_t i = 0; i < n; i++) {
            size_t index = some ? w.indices[i] : at;

            dev_expect(report, index, round * WORDS + index, data[index]);
            __syncthreads();
            if (threadIdx.x == 0)
                dev_expect(report, 1000 + index, 0, (unsigned)w.status[index]), w.status[index] = 1;
        }
        __syncthreads();
        taken += n;
    }
    dev_long_wait_until_all<S>(w.longs, WORDS, nullptr, SHMEM_CMP_GE, (long)round);
}

/* With all words satisfied, any must not keep to one of them. */
template <int S> __global__ void fairness(struct words w, struct dev_report *report)
{
    size_t first = dev_uint64_wait_until_any<S>(w.wide, WORDS, nullptr, SHMEM_CMP_GE, (uint64_t)0), others = 0;

    for (int i = 0; i < 200; i++)
        others += dev_uint64_wait_until_any<S>(w.wide, WORDS, nullptr, SHMEM_CMP_GE, (uint64_t)0) != first;
    dev_expect(report, 0, 1, others > 0);
}

static uint64_t round_no;

template <int S> static void run(struct words w, size_t *data, cudaStream_t stream, struct dev_report *report)
{
    dev_case("%s scope", dev_scope_name[S]);
    comparisons<S><<<1, dev_threads[S]>>>(w, report);
    dev_check_report(report, "comparisons");
    for (size_t n : {0, 1, 2, 7, 8, 9, 31, 32, 33, 64, WORDS}) {
        still_sets<S><<<1, dev_threads[S]>>>(w, n, report);
        dev_check_report(report, "sets of words that stay");
    }
    for (int some = 0; some < 2; some++)
        for (int i = 0; i < mp_rounds(10, 200); i++) {
            round_no++;
            shmem_barrier_all();
            take_words<S><<<1, dev_threads[S]>>>(w, data, round_no, some, report);
            set_words<<<1, 1, 0, stream>>>(w, data, mp_right(), round_no);
            dev_check_report(report, some ? "some" : "any");
        }
    fairness<S><<<1, dev_threads[S]>>>(w, report);
    dev_check_report(report, "any is fair");
}

int main(void)
{
    int set[WORDS], status[WORDS], one[2] = {10, -1};
    struct dev_report *report;
    cudaStream_t stream;
    struct words w;
    size_t *data;
    long big = -1;

    dev_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    w.one = (int *)dev_alloc(sizeof one);
    w.set = (int *)dev_alloc(sizeof set);
    w.values = (int *)dev_alloc(sizeof set);
    w.status = (int *)dev_alloc(sizeof status);
    w.longs = (long *)dev_alloc(WORDS * 8);
    w.wide = (uint64_t *)dev_alloc(WORDS * 8);
    w.indices = (size_t *)dev_alloc(WORDS * 8);
    data = (size_t *)dev_alloc(WORDS * 8);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    dev_upload(w.one, one, sizeof one);
    DEV_EACH_SCOPE({
        for (int i = 0; i < WORDS; i++)
            set[i] = i % 3, status[i] = i % 5 == 0;
        dev_upload(w.set, set, sizeof set);
        dev_upload(w.values, set, sizeof set);
        dev_upload(w.status, status, sizeof status);
        dev_upload(w.longs, &big, sizeof big);
        shmem_barrier_all();
        run<S>(w, data, stream, report);
    });
    return dev_end();
}
