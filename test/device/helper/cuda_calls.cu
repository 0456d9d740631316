/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of CUDA behind a kernel that waits, for cuda_calls.sh: cuda_calls KIND. A kernel of PE 0 waits for what PE 1's
 * host puts, while another host thread of PE 0 makes calls of one kind for 0.3 s. Prints "completes" where the kernel
 * has found all of it; each thread has a stream of its own.
 */
#include <shmemx.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <utility>

enum { WORDS = 4096, KERNELS = 64 };
enum kind { MALLOC, FREE, HOSTALLOC, LAUNCH, SYNC, KINDS };

static const char *const names[KINDS] = {"malloc", "free", "hostalloc", "launch", "sync"};

/* In memory of both sides. */
struct state {
    unsigned running, wrong, ended;
};

static int gpu;
static std::atomic<bool> begun;

static __host__ __device__ uint64_t value(unsigned i)
{
    return 1000003 + 7919 * (uint64_t)i;
}

__global__ void wait_for_data(const uint64_t *data, uint64_t *signal, volatile struct state *state)
{
    unsigned wrong = 0;

    state->running = 1;
    __threadfence_system();
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1);
    for (unsigned i = 0; i < WORDS; i++)
        wrong += data[i] != value(i);
    state->wrong = wrong;
    __threadfence_system();
    state->ended = 1;
}

/* Each is launched once: not loaded before, where loading is lazy. */
template <int N> __global__ void unloaded(unsigned *word)
{
    atomicAdd(word, N + clock() % 2);
}

template <int... N> static void (*pick(int i, std::integer_sequence<int, N...>))(unsigned *)
{
    static void (*const all[])(unsigned *) = {unloaded<N>...};

    return all[i];
}

static void require(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    fflush(stdout);
    shmem_global_exit(3);
}

static cudaStream_t open_stream(void)
{
    cudaStream_t stream;

    require(cudaSetDevice(gpu), "cudaSetDevice");
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return stream;
}

/* A thread of its own: with CUDA_LAUNCH_BLOCKING=1 the launch returns when the kernel has ended. */
static void run_kernel(cudaStream_t stream, const uint64_t *data, uint64_t *signal, struct state *state)
{
    require(cudaSetDevice(gpu), "cudaSetDevice");
    wait_for_data<<<1, 1, 0, stream>>>(data, signal, state);
    require(cudaGetLastError(), "the kernel that waits");
    require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

static void call_once(enum kind kind, int i, cudaStream_t stream, unsigned *word)
{
    void *memory;

    switch (kind) {
    case MALLOC: require(cudaMalloc(&memory, 1 << 16), "cudaMalloc"); break;
    case FREE:
        require(cudaMalloc(&memory, 1 << 16), "cudaMalloc");
        require(cudaFree(memory), "cudaFree");
        break;
    case HOSTALLOC:
        require(cudaHostAlloc(&memory, 1 << 16, cudaHostAllocDefault), "cudaHostAlloc");
        require(cudaFreeHost(memory), "cudaFreeHost");
        break;
    case LAUNCH:
        if (i < KERNELS) {
            pick(i, std::make_integer_sequence<int, KERNELS>())<<<1, 1, 0, stream>>>(word);
            require(cudaGetLastError(), "a first launch");
        }
        break;
    default: require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
}

static void make_calls(enum kind kind, cudaStream_t stream, unsigned *word)
{
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);

    require(cudaSetDevice(gpu), "cudaSetDevice");
    begun.store(true, std::memory_order_release);
    for (int i = 0; std::chrono::steady_clock::now() < end; i++) {
        call_once(kind, i, stream, word);
        usleep(4000);
    }
}

/* PE 0: kernel and calls go on, and only then PE 1 hears of it. */
static int wait_here(enum kind kind, uint64_t *data, uint64_t *signal, int *flag)
{
    cudaStream_t of_kernel = open_stream(), of_calls = open_stream();
    struct state *state;
    unsigned *word;

    require(cudaHostAlloc((void **)&state, sizeof *state, cudaHostAllocMapped), "cudaHostAlloc");
    require(cudaMalloc((void **)&word, sizeof *word), "cudaMalloc");
    memset(state, 0, sizeof *state);
    std::thread kernel(run_kernel, of_kernel, data, signal, state);
    while (!*(volatile unsigned *)&state->running)
        usleep(1000);
    std::thread calls(make_calls, kind, of_calls, word);
    while (!begun.load(std::memory_order_acquire))
        usleep(100);
    shmem_int_p(flag, 1, 1);
    shmem_quiet();
    calls.join();
    kernel.join();
    if (!state->ended || state->wrong)
        printf("wrong: the kernel found %u words of %u that PE 1 did not put\n", state->wrong, (unsigned)WORDS);
    return state->ended && !state->wrong;
}

static void put_there(uint64_t *data, uint64_t *signal, const uint64_t *source, int *flag)
{
    shmem_int_wait_until(flag, SHMEM_CMP_EQ, 1);
    usleep(200000);
    shmem_uint64_put_signal(data, source, WORDS, signal, 1, SHMEM_SIGNAL_SET, 0);
    shmem_quiet();
}

int main(int argc, char **argv)
{
    int kind = KINDS, provided, gpus = 0, good = 1, *flag;
    uint64_t *data, *signal, *source;

    for (int i = 0; argc > 1 && i < KINDS; i++)
        if (!strcmp(argv[1], names[i]))
            kind = i;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || !gpus || kind == KINDS || shmem_n_pes() != 2)
        return 77;
    gpu = shmem_my_pe() % gpus;
    require(cudaSetDevice(gpu), "cudaSetDevice");
    data = (uint64_t *)shmemx_calloc_device(WORDS, sizeof *data);
    signal = (uint64_t *)shmemx_calloc_device(1, sizeof *signal);
    source = (uint64_t *)shmem_malloc(WORDS * sizeof *source);
    flag = (int *)shmem_calloc(1, sizeof *flag);
    if (!data || !signal || !source || !flag)
        return 2;
    for (unsigned i = 0; i < WORDS; i++)
        source[i] = value(i);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        good = wait_here((enum kind)kind, data, signal, flag);
    else
        put_there(data, signal, source, flag);
    shmem_barrier_all();
    if (good && shmem_my_pe() == 0)
        puts("completes");
    shmem_finalize();
    return good ? 0 : 4;
}
