/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts of kernels, at every scope and from and to memory of host and GPU: who sees the count sees the data, and
 * sources are overwritten right after the flush. Lists of puts, counted or not, to a far and a near PE. A counter that
 * kernels and CPUs of all PEs add to at once. A counted put as the last call of a kernel.
 * paths: gpu:2,4 gpu1:2 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

enum { LIST = 50, PART = 1024 };

#define WORDS_MAX ((size_t)30000)
#define POISON 0xeeeeeeeeeeeeeeeeu

#define SCOPED(name)                                                  \
    template <int S, class... ARGS> __device__ void dev_##name(ARGS... args) \
    {                                                                 \
        if constexpr (S == THREAD)                                    \
            shmemx_##name(args...);                                   \
        else if constexpr (S == WARP)                                 \
            shmemx_##name##_warp(args...);                            \
        else                                                          \
            shmemx_##name##_block(args...);                           \
    }

SCOPED(putmem_counted_nbi)
SCOPED(putmem_list_nbi)
SCOPED(counter_wait_until)
SCOPED(flush)

struct place {
    uint64_t *source, *data; /* here, and at the other PE */
    shmemx_counter_t counter;
    shmemx_put_t *list;
    int other, from; /* whose data come here */
};

static __device__ uint64_t value(uint64_t round, int from, size_t i)
{
    return round * 1000003 + (uint64_t)from * 7919 + i;
}

template <int S> static __device__ void fill(uint64_t *to, size_t words, uint64_t round, bool poison)
{
    for (size_t i = S == THREAD ? 0 : threadIdx.x; i < words; i += blockDim.x)
        to[i] = poison ? POISON : value(round, shmem_my_pe(), i);
}

/* Every third round nothing follows the put: the kernel ends, and the host overwrites the source later. */
template <int S> __global__ void send(struct place p, size_t words, uint64_t round)
{
    fill<S>(p.source, words, round, false);
    dev_putmem_counted_nbi<S>(p.data, p.source, words * 8, p.counter, p.other);
    if (round % 3 == 0)
        return;
    dev_flush<S>();
    fill<S>(p.source, words, round, true);
}

template <int S>
__global__ void receive(struct place p, size_t words, uint64_t round, struct dev_report *report)
{
    dev_counter_wait_until<S>(p.counter, round);
    for (size_t i = S == THREAD ? 0 : threadIdx.x; i < words; i += blockDim.x)
        dev_expect(report, i, value(round, p.from, i), p.data[i]);
    dev_expect(report, 1u << 30, round, shmemx_counter_fetch(p.counter));
}

template <int S> static void run(struct place p, const char *kind, uint64_t *rounds, struct dev_report *report)
{
    static const size_t words[] = {0, 1, 63, 64, 926, 8193, WORDS_MAX};

    dev_case("%s: %s scope", kind, dev_scope_name[S]);
    for (size_t len : words)
        for (int i = 0; i < mp_rounds(6, 100); i++) {
            ++*rounds;
            send<S><<<1, dev_threads[S]>>>(p, len, *rounds);
            receive<S><<<1, dev_threads[S]>>>(p, len, *rounds, report);
            dev_check_report(report, "counted put, source overwritten");
            shmem_barrier_all();
        }
}

static __device__ size_t list_words(int i)
{
    return i % 5 == 0 ? 3 : i % 7 == 0 ? 0 : 128 + (size_t)i;
}

/* Two of three are counted; one of four goes to this PE itself. */
static __host__ __device__ bool list_counted(int i)
{
    return i % 3 != 0;
}

template <int S> __global__ void send_list(struct place p, uint64_t round)
{
    for (int i = S == THREAD ? 0 : threadIdx.x; i < LIST; i += blockDim.x) {
        uint64_t *from = p.source + i * PART;

        for (size_t k = 0; k < list_words(i); k++)
            from[k] = value(round, shmem_my_pe(), k + (size_t)i);
        p.list[i] = shmemx_put_t{p.data + i * PART, from, list_words(i) * 8,
                                 list_counted(i) ? p.counter : SHMEMX_COUNTER_INVALID,
                                 i % 4 ? p.other : shmem_my_pe()};
    }
    __syncthreads();
    dev_putmem_list_nbi<S>(p.list, (size_t)LIST);
}

template <int S> __global__ void receive_list(struct place p, uint64_t round, uint64_t count, struct dev_report *report)
{
    if (count)
        dev_counter_wait_until<S>(p.counter, count);
    for (int i = 0; i < LIST; i++)
        for (size_t k = threadIdx.x; (!count || list_counted(i)) && k < list_words(i); k += blockDim.x)
            dev_expect(report, (unsigned)i, value(round, i % 4 ? p.from : shmem_my_pe(), k + (size_t)i),
                       p.data[i * PART + k]);
}

template <int S> static void run_list(struct place p, const char *kind, uint64_t *rounds, struct dev_report *report)
{
    uint64_t counted = 0;

    for (int i = 0; i < LIST; i++)
        counted += list_counted(i);
    dev_case("%s: list, %s scope", kind, dev_scope_name[S]);
    for (int i = 0; i < mp_rounds(5, 100); i++) {
        *rounds += counted;
        send_list<S><<<1, dev_threads[S]>>>(p, *rounds);
        receive_list<S><<<1, dev_threads[S]>>>(p, *rounds, *rounds, report);
        dev_check_report(report, "a list, what is counted");
        shmem_barrier_all(); /* completes what kernels have put */
        receive_list<S><<<1, dev_threads[S]>>>(p, *rounds, 0, report);
        dev_check_report(report, "a list, after a barrier");
        shmem_barrier_all();
    }
}

__global__ void put_to_all(struct place p, int n)
{
    for (int i = 0; i < n; i++)
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            shmemx_putmem_counted_nbi(p.data, p.source, i % 2 ? 8 : 4096, p.counter, pe);
}

__global__ void wait_for_all(struct place p, uint64_t count)
{
    shmemx_counter_wait_until_warp(p.counter, count);
}

/* Kernels and CPUs of all PEs add to one counter; kernel and CPU wait for the whole. */
static void from_everywhere(struct place p, const char *kind, uint64_t *rounds)
{
    enum { N = 20 };

    dev_case("%s: kernels and CPUs", kind);
    put_to_all<<<2, 1>>>(p, N);
    for (int i = 0; i < N; i++)
        for (int pe = 0; pe < mp_npes; pe++)
            shmemx_putmem_counted_nbi(p.data, p.source, i % 2 ? 8 : 4096, p.counter, pe);
    *rounds += 3 * N * (uint64_t)mp_npes;
    wait_for_all<<<1, 32>>>(p, *rounds);
    shmemx_counter_wait_until(p.counter, *rounds);
    dev_wait();
    mp_check(shmemx_counter_fetch(p.counter) == *rounds, "counted %llu of %llu",
             (unsigned long long)shmemx_counter_fetch(p.counter), (unsigned long long)*rounds);
    shmem_barrier_all();
}

static void run_all(bool from_gpu, bool to_gpu, struct dev_report *report)
{
    static const char *const kinds[2][2] = {{"host to host memory", "host to device memory"},
                                            {"device to host memory", "device to device memory"}};
    const char *kind = kinds[from_gpu][to_gpu];
    uint64_t rounds = 0;
    struct place p;

    static_assert((size_t)LIST * PART >= WORDS_MAX, "room for a put");
    p.source = (uint64_t *)(from_gpu ? dev_alloc(LIST * PART * 8) : mp_alloc(LIST * PART * 8));
    p.data = (uint64_t *)(to_gpu ? dev_alloc(LIST * PART * 8) : mp_alloc(LIST * PART * 8));
    p.list = (shmemx_put_t *)dev_share(LIST * sizeof *p.list);
    p.other = (mp_me + (mp_npes + 1) / 2) % mp_npes;
    p.from = (mp_me + mp_npes - (mp_npes + 1) / 2) % mp_npes;
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &p.counter), "no counter");
    DEV_EACH_SCOPE(run<S>(p, kind, &rounds, report));
    DEV_EACH_SCOPE(run_list<S>(p, kind, &rounds, report));
    from_everywhere(p, kind, &rounds);
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &p.counter), "not destroyed");
}

int main(void)
{
    struct dev_report *report;

    dev_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    for (int pair = 3; pair >= 0; pair--) /* device memory first, which attaches the GPU */
        run_all(pair / 2, pair % 2, report);
    return dev_end();
}
