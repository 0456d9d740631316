/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In kernels: puts before a fence arrive before a put, an atomic or a signal after it; after quiet, another PE that is
 * notified over any path finds everything, what other lanes of the scope stored included.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

#define WORDS ((size_t)4096)

DEV_SCOPED(uint64_put_nbi)
DEV_SCOPED(fence)
DEV_SCOPED(quiet)

enum { BY_PUT, BY_SET, BY_ADD, BY_SIGNAL, FLAGS };

struct place {
    uint64_t *data, *source, *flag, *ack;
    int right, left;
};

static __device__ void raise(const struct place &p, uint64_t round, int by)
{
    switch (by) {
    case BY_PUT: shmem_uint64_p(p.flag, round, p.right); break;
    case BY_SET: shmem_uint64_atomic_set(p.flag, round, p.right); break;
    case BY_ADD: shmem_uint64_atomic_add(p.flag, 1, p.right); break;
    default: shmem_signal_set(p.flag, round, p.right);
    }
}

/* Parts of the array are put by calls of their own, then fence or quiet, then the flag. */
template <int S> static __device__ void send(const struct place &p, uint64_t round, int by, bool quiet)
{
    for (size_t part = 0; part < 4; part++)
        dev_uint64_put_nbi<S>(p.data + part * (WORDS / 4), p.source + part * (WORDS / 4), WORDS / 4, p.right);
    if (quiet)
        dev_quiet<S>();
    else
        dev_fence<S>();
    if (S == THREAD || threadIdx.x == 0)
        raise(p, round, by);
}

template <int S>
__global__ void rounds(struct place p, uint64_t first, uint64_t n, int by, bool quiet, struct dev_report *report)
{
    for (uint64_t round = first; round < first + n; round++) {
        for (size_t i = threadIdx.x; i < WORDS; i += blockDim.x)
            p.source[i] = round * 7919 + i;
        send<S>(p, round, by, quiet);
        if (threadIdx.x == 0)
            shmem_uint64_wait_until(p.flag, SHMEM_CMP_GE, round);
        __syncthreads();
        for (size_t i = threadIdx.x; i < WORDS; i += blockDim.x)
            dev_expect(report, i, round * 7919 + i, p.data[i]);
        __syncthreads();
        if (threadIdx.x == 0) {
            shmem_signal_set(p.ack, round, p.left);
            shmem_uint64_wait_until(p.ack, SHMEM_CMP_GE, round);
        }
        __syncthreads();
    }
}

static uint64_t sent = 1;

template <int S> static void run(const struct place &p, struct dev_report *report)
{
    static const char *const name[] = {"p", "atomic set", "atomic add", "signal"};

    for (int by = 0; by < FLAGS; by++) {
        for (int quiet = 0; quiet < 2; quiet++) {
            uint64_t n = (uint64_t)mp_rounds(S == THREAD ? 20 : 100, S == THREAD ? 500 : 5000);

            dev_case("%s scope, %s then %s", dev_scope_name[S], quiet ? "quiet" : "fence", name[by]);
            rounds<S><<<1, dev_threads[S]>>>(p, sent, n, by, quiet, report);
            dev_check_report(report, "data after the flag");
            sent += n;
            shmem_barrier_all();
        }
    }
}

int main(void)
{
    struct dev_report *report;
    struct place p;

    dev_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    p.data = (uint64_t *)dev_alloc(WORDS * 8);
    p.source = (uint64_t *)dev_alloc(WORDS * 8);
    p.flag = (uint64_t *)dev_alloc(64);
    p.ack = (uint64_t *)dev_alloc(64);
    p.right = mp_right();
    p.left = mp_left();
    DEV_EACH_SCOPE(run<S>(p, report));
    return dev_end();
}
