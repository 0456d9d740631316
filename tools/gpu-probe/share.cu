// SPDX-License-Identifier: BSD-3-Clause
// Several processes whose kernels wait for each other on ONE device: how long a flag takes from one to the next, a
// barrier of all, and what a call of one costs while another's kernel spins. The same again under MPS.
#include "device.cuh"
#include "probe.cuh"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <algorithm>
#include <atomic>

static const int procs_max = 8;
static const int stride = 64; // words between two flags
static const uint64_t limit_ns = 1500000000;
static const uint64_t rounds_max = 20000;

// Shared by the processes of one question.
struct board {
    int procs;
    std::atomic<int> arrived;
    std::atomic<bool> failed;
    cudaIpcMemHandle_t handle;
    double context_ms[procs_max], call_us[procs_max][4];
    uint64_t ns[procs_max], rounds[procs_max];
    size_t left_before, left_after;
};

static board *shared;

// Everybody has called this `turn` times; false if somebody failed or 15 s have passed.
static bool turn_sync(int turn)
{
    double end = now_us() + 1.5e7;

    // Pairs with itself: what a process wrote before it arrived is seen by those that saw it arrive.
    shared->arrived.fetch_add(1, std::memory_order_acq_rel);
    while (shared->arrived.load(std::memory_order_acquire) < turn * shared->procs) {
        if (shared->failed.load(std::memory_order_relaxed) || now_us() > end)
            return false;
        sleep_us(20);
    }
    return true;
}

// A token goes round: each waits for its flag, then sets the next one's.
static __global__ void pass_token(uint64_t *flags, int me, int procs, bool nap, uint64_t *out)
{
    uint64_t start = clock_ns(), end = start + limit_ns, r;
    uint64_t *mine = flags + me * stride, *next = flags + (me + 1) % procs * stride;

    for (r = 1; r <= rounds_max; r++) {
        if (me == 0)
            store_relaxed(next, r);
        for (; nap && load_relaxed(mine) < r && clock_ns() < end; __nanosleep(1000))
            ;
        if (!wait_for(mine, r, end))
            break;
        if (me != 0)
            store_relaxed(next, r);
    }
    out[0] = clock_ns() - start;
    out[1] = r - 1;
}

// A barrier: lane l sets process l's flag of this one and waits for this one's flag of process l.
static __global__ void barrier(uint64_t *flags, int me, int procs, uint64_t *out)
{
    uint64_t start = clock_ns(), end = start + limit_ns, r;
    int lane = threadIdx.x;
    bool ok = true;

    for (r = 1; r <= rounds_max && ok; r++) {
        if (lane < procs) {
            store_relaxed(flags + (lane * procs_max + me) * stride, r);
            ok = wait_for(flags + (me * procs_max + lane) * stride, r, end);
        }
        ok = __all_sync(0xffffffff, ok);
    }
    if (lane == 0) {
        out[0] = clock_ns() - start;
        out[1] = r - (ok ? 1 : 2);
    }
}

static __global__ void linger_ns(uint64_t ns)
{
    for (uint64_t end = clock_ns() + ns; clock_ns() < end;)
        ;
}

static __global__ void tiny(uint64_t *at)
{
    at[0] = 1;
}

enum game { TOKEN, TOKEN_NAP, BARRIER, GAMES };
static const char *const game_names[] = {"flag from one to the next", "the same, polling with nanosleep",
                                         "barrier of all"};

struct player {
    int me, turn;
    uint64_t *flags, *out;
    cudaStream_t stream;
};

// One game by all; the figures are on the board when `turn_sync` has returned.
static bool play_game(player *p, int game)
{
    uint64_t *flags = p->flags + (size_t)game * procs_max * procs_max * stride;

    if (!turn_sync(++p->turn))
        return false;
    if (game == BARRIER)
        barrier<<<1, 32, 0, p->stream>>>(flags, p->me, shared->procs, p->out);
    else
        pass_token<<<1, 1, 0, p->stream>>>(flags, p->me, shared->procs, game == TOKEN_NAP, p->out);
    if (!CHECK(cudaGetLastError()) || !CHECK(cudaStreamSynchronize(p->stream)))
        return false;
    shared->ns[p->me] = p->out[0];
    shared->rounds[p->me] = p->out[1];
    return turn_sync(++p->turn);
}

static double timed(cudaError_t (*call)(player *), player *p, int times)
{
    double start = now_us();

    for (int i = 0; i < times; i++)
        if (!CHECK(call(p)))
            return -1;
    return (now_us() - start) / times;
}

static cudaError_t copy_word(player *p)
{
    cudaError_t r = cudaMemcpyAsync(p->out + 4, p->flags, 8, cudaMemcpyDeviceToHost, p->stream);

    return r ? r : cudaStreamSynchronize(p->stream);
}

static cudaError_t launch_tiny(player *p)
{
    tiny<<<1, 1, 0, p->stream>>>(p->out + 5);
    return cudaStreamSynchronize(p->stream);
}

static cudaError_t malloc_free(player *)
{
    void *at;
    cudaError_t r = cudaMalloc(&at, 1 << 20);

    return r ? r : cudaFree(at);
}

// Process 0's kernel lingers; the others copy, launch, allocate and free.
static bool calls_beside(player *p)
{
    double *us = shared->call_us[p->me];

    if (!turn_sync(++p->turn))
        return false;
    if (p->me == 0) {
        linger_ns<<<1, 1, 0, p->stream>>>(1000000000);
    } else {
        sleep_us(20000);
        us[0] = timed(copy_word, p, 10);
        us[1] = timed(launch_tiny, p, 10);
        us[2] = timed(malloc_free, p, 3);
    }
    return CHECK(cudaStreamSynchronize(p->stream)) && turn_sync(++p->turn);
}

static bool attach_gpu(player *p)
{
    size_t len = (size_t)GAMES * procs_max * procs_max * stride * 8, total;
    double start = now_us();

    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaFree(NULL)))
        return false;
    shared->context_ms[p->me] = (now_us() - start) / 1e3;
    if (p->me == 0) {
        CHECK(cudaMemGetInfo(&shared->left_before, &total));
        if (!CHECK(cudaMalloc(&p->flags, len)) || !CHECK(cudaMemset(p->flags, 0, len)) ||
            !CHECK(cudaDeviceSynchronize()) || !CHECK(cudaIpcGetMemHandle(&shared->handle, p->flags)))
            return false;
    }
    if (!turn_sync(++p->turn))
        return false;
    if (p->me &&
        !CHECK(cudaIpcOpenMemHandle((void **)&p->flags, shared->handle, cudaIpcMemLazyEnablePeerAccess)))
        return false;
    if (p->me == 0)
        CHECK(cudaMemGetInfo(&shared->left_after, &total));
    return (p->out = (uint64_t *)pinned(4096)) &&
           CHECK(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
}

static void report_attach()
{
    double most = *std::max_element(shared->context_ms, shared->context_ms + shared->procs);

    say("context, slowest process", "ok", text("%.0f ms", most));
    say("device memory that the other processes' contexts take", "ok",
        text("%.0f MiB together", ((double)shared->left_before - (double)shared->left_after) / (1 << 20)));
}

static void report_game(int game)
{
    double us = (double)shared->ns[0] / 1e3, n = (double)std::max<uint64_t>(shared->rounds[0], 1);
    bool token = game != BARRIER;

    say(game_names[game], shared->rounds[0] == 0 ? "failed: not one round in the limit" : "ok",
        text("%.2f us each, %lu rounds", us / n / (token ? shared->procs : 1),
             (unsigned long)shared->rounds[0]));
}

static int run_player(int, int me)
{
    player p = {me, 0, NULL, NULL, NULL};
    bool ok;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    ok = attach_gpu(&p) && turn_sync(++p.turn);
    if (ok && me == 0)
        report_attach();
    for (int game = 0; ok && game < GAMES; game++) {
        ok = play_game(&p, game);
        if (ok && me == 0)
            report_game(game);
    }
    ok = ok && calls_beside(&p);
    if (!ok)
        shared->failed.store(true, std::memory_order_relaxed);
    return !ok;
}

static void ask_share(int procs)
{
    process all[procs_max];
    int bad = 0;

    shared = (board *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        say("error", text("failed: mmap: %s", strerror(errno)));
        return;
    }
    shared->procs = procs;
    for (int i = 0; i < procs; i++)
        all[i] = start(run_player, i);
    for (int i = 0; i < procs; i++)
        bad += finish(all[i]) != 0;
    say("processes", bad ? text("failed: %d of %d", bad, procs) : text("%d ended well", procs));
    say("beside another's kernel of 1 s", bad ? "failed" : "ok",
        text("copy 8 B %.0f us, launch %.0f us, cudaMalloc and cudaFree %.0f us", shared->call_us[1][0],
             shared->call_us[1][1], shared->call_us[1][2]));
}

void ask_share_2()
{
    ask_share(2);
}

void ask_share_4()
{
    ask_share(4);
}

void ask_share_8()
{
    ask_share(8);
}
