/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put_signal needs no fence: a kernel that sees the signal sees all of the data, at every size, set and add, blocking
 * and not, at each scope, with data and signal in device memory or one of them in the host heap.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

#define WORDS_MAX ((size_t)1 << 15)

DEV_SCOPED(uint64_put_signal)
DEV_SCOPED(uint64_put_signal_nbi)
DEV_SCOPED(signal_wait_until)

/* What one run of rounds works with; signals count up, so rounds are told apart by value. */
struct place {
    uint64_t *data, *source, *signal, *ack;
    int right, left;
};

template <int S> static __device__ unsigned lane(void)
{
    return S == THREAD ? 0 : threadIdx.x;
}

template <int S> static __device__ void scope_barrier(void)
{
    if (S == WARP)
        __syncwarp();
    else if (S == BLOCK)
        __syncthreads();
}

template <int S> static __device__ void send(const struct place &p, size_t words, uint64_t round, bool add)
{
    if (!add)
        dev_uint64_put_signal<S>(p.data, p.source, words, p.signal, round, SHMEM_SIGNAL_SET, p.right);
    else if (round % 2)
        dev_uint64_put_signal<S>(p.data, p.source, words, p.signal, (uint64_t)1, SHMEM_SIGNAL_ADD, p.right);
    else
        dev_uint64_put_signal_nbi<S>(p.data, p.source, words, p.signal, (uint64_t)1, SHMEM_SIGNAL_ADD, p.right);
}

/* Every PE sends to its right and checks what its left sent, then lets it go on. */
template <int S>
__global__ void rounds(struct place p, size_t words, uint64_t first, uint64_t n, bool add, struct dev_report *report)
{
    for (uint64_t round = first; round < first + n; round++) {
        for (size_t i = lane<S>(); i < words; i += blockDim.x)
            p.source[i] = round * 1000003 + (uint64_t)p.right + i;
        send<S>(p, words, round, add);
        dev_expect(report, round, round, dev_signal_wait_until<S>(p.signal, SHMEM_CMP_GE, round));
        for (size_t i = lane<S>(); i < words; i += blockDim.x)
            dev_expect(report, i, round * 1000003 + (uint64_t)shmem_my_pe() + i, p.data[i]);
        scope_barrier<S>();
        if (lane<S>() == 0) {
            shmem_signal_set(p.ack, round, p.left);
            shmem_uint64_wait_until(p.ack, SHMEM_CMP_GE, round);
        }
        scope_barrier<S>();
    }
}

static uint64_t sent = 1;

template <int S> static void run(struct place p, const char *where, bool add, struct dev_report *report)
{
    static const size_t words[] = {0, 1, 2, 3, 8, 33, 128, 1000, 8192, WORDS_MAX};

    dev_case("%s scope, %s, %s", dev_scope_name[S], add ? "add" : "set", where);
    for (size_t len : words) {
        uint64_t n = (uint64_t)mp_rounds(S == THREAD && len > 2000 ? 3 : 50, S == THREAD ? 100 : 2000);

        rounds<S><<<1, dev_threads[S]>>>(p, len, sent, n, add, report);
        dev_check_report(report, where);
        sent += n;
        shmem_barrier_all();
    }
}

int main(void)
{
    struct dev_report *report;
    struct place p, mixed;

    dev_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    p.data = (uint64_t *)dev_alloc(WORDS_MAX * 8);
    p.source = (uint64_t *)dev_alloc(WORDS_MAX * 8);
    p.signal = (uint64_t *)dev_alloc(64);
    p.ack = (uint64_t *)dev_alloc(64);
    p.right = mp_right();
    p.left = mp_left();
    DEV_EACH_SCOPE(run<S>(p, "all in device memory", false, report));
    DEV_EACH_SCOPE(run<S>(p, "all in device memory", true, report));
    mixed = p;
    mixed.data = (uint64_t *)mp_alloc(WORDS_MAX * 8);
    DEV_EACH_SCOPE(run<S>(mixed, "data in the host heap", true, report));
    mixed = p;
    mixed.signal = (uint64_t *)mp_alloc(64);
    DEV_EACH_SCOPE(run<S>(mixed, "signal in the host heap", false, report));
    return dev_end();
}
