// SPDX-License-Identifier: BSD-3-Clause
// Kernels that post writes into a send ring in pinned memory, and take their credits from a completion counter of the
// NIC's in GPU memory. Launched with one thread, or with one warp.

struct queue {
    unsigned long long *words;
    unsigned *doorbell;
    unsigned long long *count; // of writes that are over: 31 bits, from `start`
    unsigned long long *source; // 4096 words, one for each request in flight
    unsigned long long start, request[8]; // request: an entry without id and phase, with the addresses of the first
    unsigned entries, batch, n, flaw; // flaw 1: the last request has the wrong phase
};

static __device__ bool await_credit(const queue &q, unsigned posted)
{
    long long began = clock64();

    while (posted - (unsigned)((*(volatile unsigned long long *)q.count - q.start) & 0x7fffffff) >= q.entries)
        if (clock64() - began > 40000000000ll)
            return false;
    return true;
}

static __device__ void store(const queue &q, unsigned i)
{
    volatile unsigned long long *at = q.words + (size_t)(i & (q.entries - 1)) * 8;
    unsigned long long phase = (i / q.entries & 1) ^ (q.flaw == 1 && i == q.n - 1), offset = (i & 4095) * 8ull;

    ((volatile unsigned long long *)q.source)[i & 4095] = i;
    at[0] = q.request[0] | (i & 0xffff) | phase << 24;
    at[1] = q.request[1];
    at[2] = q.request[2];
    at[3] = i & ~0xffffull;
    at[4] = q.request[4];
    at[5] = q.request[5] + offset;
    at[6] = q.request[6];
    at[7] = q.request[7] + offset;
}

static __device__ void ring(const queue &q, unsigned posted)
{
    __threadfence_system();
    *(volatile unsigned *)q.doorbell = posted & 0xffff;
    __threadfence_system();
}

extern "C" __global__ void post(queue q, unsigned *done)
{
    for (unsigned first = 0; first < q.n; first += q.batch) {
        unsigned last = first + q.batch < q.n ? first + q.batch : q.n;

        if (!await_credit(q, last - 1))
            return;
        for (unsigned i = first + threadIdx.x; i < last; i += blockDim.x)
            store(q, i);
        // The lanes' stores before the doorbell of the first.
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0)
            ring(q, last);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *(volatile unsigned *)done = 1;
}
