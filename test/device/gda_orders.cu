/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels post to NICs themselves, in company: puts behind a fence do not overtake those before it, to the same
 * place, by the kernel or by the proxy; lists; more posts of a whole grid than the queues hold, by threads, warps
 * and blocks; puts that NICs of the targets count. Requests are counted in the queues.
 * paths: gpugda:2,4
 * timeout: 300
 */
#include "test/device/gda.cuh"

enum { LIST = 300, PART = 512, GRID = 64, GRID_THREADS = 256, WORDS = GRID * GRID_THREADS, TURNS = 9 };

DEV_SCOPED(uint64_put_nbi)

#define BY_NIC 0
#define BY_PROXY 1

/* `a` and `b` are the sources of the first and the second put to the same place. */
struct pair {
    uint64_t *a, *b, *data;
    size_t first, second; /* words */
    int peer;
};

template <int S> __global__ void overtake(struct pair p)
{
    if (threadIdx.x == 0)
        for (size_t i = 0; i < p.first; i++)
            p.a[i] = 1;
    for (size_t i = 0; i < p.second && threadIdx.x == 0; i++)
        p.b[i] = 2;
    __syncthreads();
    dev_uint64_put_nbi<S>(p.data, p.a, p.first, p.peer);
    if (S == BLOCK)
        shmem_fence_block();
    else if (S == WARP)
        shmem_fence_warp();
    else
        shmem_fence();
    dev_uint64_put_nbi<S>(p.data, p.b, p.second, p.peer);
}

__global__ void expect_second(struct pair p, struct dev_report *report)
{
    for (size_t i = threadIdx.x; i < p.first || i < p.second; i += blockDim.x)
        dev_expect(report, i, i < p.second ? 2 : 1, p.data[i]);
    __syncthreads();
    for (size_t i = threadIdx.x; i < p.first || i < p.second; i += blockDim.x)
        p.data[i] = 0;
}

template <int S> static void run_overtake(struct pair p, struct dev_report *report)
{
    static const size_t words[][2] = {{1, 1}, {8192, 1}, {1, 513}, {8192, 8192}};

    for (auto &pair : words)
        for (long i = 0; i < mp_rounds(20, 2000); i++) {
            p.first = pair[0];
            p.second = pair[1];
            overtake<S><<<1, dev_threads[S]>>>(p);
            dev_wait();
            shmem_barrier_all();
            expect_second<<<1, 256>>>(p, report);
            dev_check_report(report, "put_nbi, fence, put_nbi to the same place");
            shmem_barrier_all();
        }
}

/* Each of both by either way: from the heap, or from memory that NICs do not read. */
static void run_overtakes(bool to_gpu, struct dev_report *report)
{
    static const char *const posters[] = {"NIC", "proxy"};
    uint64_t *sources[2][2];
    struct pair p = {};

    p.data = (uint64_t *)(to_gpu ? dev_alloc(8192 * 8) : mp_alloc(8192 * 8));
    p.peer = gda_peer();
    for (int i = 0; i < 2; i++) {
        sources[BY_NIC][i] = (uint64_t *)dev_alloc(8192 * 8);
        mp_check(!cudaMalloc(&sources[BY_PROXY][i], 8192 * 8), "cudaMalloc");
        mp_check(gda_takes(sources[BY_NIC][i], p.data) && !gda_takes(sources[BY_PROXY][i], p.data), "not as thought");
    }
    for (int a = BY_NIC; a <= BY_PROXY; a++)
        for (int b = BY_NIC; b <= BY_PROXY; b++) {
            dev_case("fence to %s memory: %s, then %s", to_gpu ? "device" : "host", posters[a], posters[b]);
            p.a = sources[a][0];
            p.b = sources[b][1];
            DEV_EACH_SCOPE(run_overtake<S>(p, report));
        }
    gda_open();
}

static __host__ __device__ size_t list_len(int i)
{
    return i % 7 == 0 ? 1 : i % 5 == 0 ? 0 : (size_t)(i * 37) % PART + 1;
}

template <int S>
__global__ void send_list(struct place p, shmemx_put_t *list, shmemx_counter_t counter, unsigned seed)
{
    for (size_t i = threadIdx.x; i < LIST * PART; i += blockDim.x)
        p.source[i] = pattern(i, seed);
    for (int i = threadIdx.x; i < LIST; i += blockDim.x)
        list[i] = shmemx_put_t{p.data + i * PART, p.source + i * PART, list_len(i), counter, p.peer};
    __syncthreads();
    if (S == THREAD && threadIdx.x == 0)
        shmemx_putmem_list_nbi(list, LIST);
    if (S == WARP && threadIdx.x < 32)
        shmemx_putmem_list_nbi_warp(list, LIST);
    if (S == BLOCK)
        shmemx_putmem_list_nbi_block(list, LIST);
}

__global__ void receive_list(struct place p, shmemx_counter_t counter, uint64_t count, unsigned seed,
                             struct dev_report *report)
{
    if (count)
        shmemx_counter_wait_until_block(counter, count);
    for (int i = 0; i < LIST; i++)
        for (size_t k = threadIdx.x; k < list_len(i); k += blockDim.x)
            dev_expect(report, (unsigned long long)i, pattern(i * PART + k, seed), p.data[i * PART + k]);
}

/* Those without bytes are no requests. */
static unsigned long long list_requests(void)
{
    unsigned long long n = 0;

    for (int i = 0; i < LIST; i++)
        n += list_len(i) != 0;
    return n;
}

template <int S>
static void run_list(struct place p, shmemx_put_t *list, const char *kind, struct dev_report *report)
{
    dev_case("list to %s memory: %s scope", kind, dev_scope_name[S]);
    for (long i = 0; i < mp_rounds(10, 200); i++) {
        struct gda_seen before = gda_look();
        unsigned seed = gda_seed();

        send_list<S><<<1, 64>>>(p, list, SHMEMX_COUNTER_INVALID, seed);
        dev_wait();
        shmem_barrier_all();
        gda_expect(before, list_requests(), "a list, barrier");
        gda_expect_complete("a list, barrier");
        receive_list<<<1, 256>>>(p, SHMEMX_COUNTER_INVALID, 0, seed ^ p.from, report);
        dev_check_report(report, "a list, barrier");
        shmem_barrier_all();
    }
}

/* Where NICs of the targets count, counted puts are requests too; elsewhere they only have to be right. */
template <int S>
static void run_counted(struct place p, shmemx_put_t *list, const char *kind, struct dev_report *report)
{
    unsigned counters = gda_look().counters;
    shmemx_counter_t counter;

    dev_case("counted list to %s memory: %s scope, %s", kind, dev_scope_name[S],
             counters ? "NICs count" : "no NIC counts");
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter), "no counter");
    for (long i = 0; i < mp_rounds(10, 200); i++) {
        struct gda_seen before = gda_look();
        unsigned seed = gda_seed();

        send_list<S><<<1, 64>>>(p, list, counter, seed);
        receive_list<<<1, 256>>>(p, counter, LIST * (uint64_t)(i + 1), seed ^ p.from, report);
        dev_check_report(report, "a counted list");
        gda_expect(before, counters ? list_requests() : 0, "a counted list");
        shmem_barrier_all();
    }
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not destroyed");
}

static void run_lists(bool to_gpu, struct dev_report *report)
{
    struct place p = gda_place(to_gpu, LIST * PART);
    shmemx_put_t *list;

    p.source = (unsigned char *)dev_alloc(LIST * PART);
    mp_check(!cudaMalloc(&list, LIST * sizeof *list), "cudaMalloc");
    DEV_EACH_SCOPE(run_list<S>(p, list, to_gpu ? "device" : "host", report));
    DEV_EACH_SCOPE(run_counted<S>(p, list, to_gpu ? "device" : "host", report));
}

/* Each of a scope's groups puts `each` words of its own, one at a time. */
template <int S> __global__ void put_many(uint64_t *data, uint64_t *source, unsigned each, unsigned seed, int peer)
{
    unsigned group = S == BLOCK ? blockIdx.x : (blockIdx.x * blockDim.x + threadIdx.x) / (S == WARP ? 32 : 1);

    for (unsigned i = 0; i < each; i++) {
        unsigned k = group * each + i;

        if (S == THREAD || (S == WARP ? threadIdx.x % 32 : threadIdx.x) == 0)
            source[k] = (uint64_t)seed << 32 | k;
        dev_uint64_put_nbi<S>(data + k, source + k, (size_t)1, peer);
    }
}

__global__ void expect_many(const uint64_t *data, unsigned seed, struct dev_report *report)
{
    for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < WORDS; k += gridDim.x * blockDim.x)
        dev_expect(report, k, (uint64_t)seed << 32 | k, data[k]);
}

/* Of so many words each turn, until they are more than all queues hold. */
template <int S> static void run_many(uint64_t *data, uint64_t *source, const char *kind, struct dev_report *report)
{
    const unsigned groups = S == THREAD ? WORDS : S == WARP ? WORDS / 32 : GRID;
    struct gda_seen before = gda_look();
    unsigned turns = before.queues * before.entries / WORDS + 1;

    turns = turns < (unsigned)TURNS ? turns : (unsigned)TURNS;
    dev_case("%u puts of %u blocks of %d to %s memory: %s scope", turns * WORDS, GRID, GRID_THREADS, kind,
             dev_scope_name[S]);
    for (unsigned turn = 0; turn < turns; turn++)
        put_many<S><<<GRID, GRID_THREADS>>>(data + turn * WORDS, source + turn * WORDS, WORDS / groups,
                                            turn * 3 + S + 1, gda_peer());
    dev_wait();
    shmem_barrier_all();
    gda_expect(before, (unsigned long long)turns * WORDS, "puts of a grid");
    gda_expect_complete("puts of a grid");
    for (unsigned turn = 0; turn < turns; turn++)
        expect_many<<<GRID, GRID_THREADS>>>(data + turn * WORDS, turn * 3 + S + 1, report);
    dev_check_report(report, "puts of a grid");
    shmem_barrier_all();
}

int main(void)
{
    struct dev_report *report;
    uint64_t *data, *source;

    gda_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    for (int to_gpu = 1; to_gpu >= 0; to_gpu--) {
        run_lists(to_gpu, report);
        run_overtakes(to_gpu, report);
    }
    source = (uint64_t *)dev_alloc(TURNS * WORDS * 8);
    data = (uint64_t *)mp_alloc(TURNS * WORDS * 8);
    DEV_EACH_SCOPE(run_many<S>(data, source, "host", report));
    run_many<THREAD>((uint64_t *)dev_alloc(TURNS * WORDS * 8), source, "device", report);
    return dev_end();
}
