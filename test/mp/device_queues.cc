/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of kernels by queues, to PEs of another host: the very code of device/proxy/queue.cuh, CPU threads for
 * lanes; the proxy, its contexts and the transports are the real ones. Puts, gets, signals, words and atomics of each
 * queue arrive; what is to come behind the queue's puts does, with no fence; numbers come again in turn. While a PE is
 * stopped, so that a put to it is not complete, a quiet of its queue waits, and a quiet of another queue, by which a
 * put went to a PE that runs, returns; so does that of the default queue. The barrier of the host completes all of
 * them. Peers' heaps are where shmem_ptr says.
 *
 * paths: fakegpumixed:4 fakegpumixedefa:2
 * long paths: fakegpumixed:2
 * timeout: 120
 */
#define SHMEMX_QUIET_COVERS_QUEUES 1
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include <shmemx.h>

#include "device/core/order.cuh"
#include "device/proxy/queue.cuh"

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn

#include <atomic>
#include <dlfcn.h>
#include <stdlib.h>

enum { BYTES = 400000, QUEUES = 3, LANES = 8 };

static struct wsh_device_root root;
static uint64_t bases[64];
static struct wsh_ring_heads heads[1 + WSH_DEVICE_QUEUES];
static struct wsh_device_locks locks;
static unsigned char *landing[QUEUES], *offered, *outgoing, got[BYTES];
static uint64_t *words;
static int queues[QUEUES];

/* What lies in the fake GPU's memory only its own threads see. */
static void look(void *to, uint64_t from, size_t len)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *stream;
    int (*create)(void **, unsigned, int) = (int (*)(void **, unsigned, int))dlsym(cuda, "cuStreamCreateWithPriority");
    int (*copy)(uint64_t, uint64_t, size_t, void *) =
        (int (*)(uint64_t, uint64_t, size_t, void *))dlsym(cuda, "cuMemcpyAsync");
    int (*sync)(void *) = (int (*)(void *))dlsym(cuda, "cuStreamSynchronize");
    int (*destroy)(void *) = (int (*)(void *))dlsym(cuda, "cuStreamDestroy_v2");

    mp_check(!create(&stream, 1, 0) && !copy((uint64_t)to, from, len, stream) && !sync(stream), "no copy");
    destroy(stream);
    dlclose(cuda);
}

/* As the library has published it, with producers' sides that the CPU reaches. */
static void take_root(uint64_t at)
{
    look(&root, at, sizeof root);
    look(bases, WSH_DEVICE_PEERS(at), (size_t)mp_npes * sizeof *bases);
    for (uint32_t i = 0; i < root.n_queues; i++)
        root.queue[i].heads = (uint64_t)&heads[1 + i];
    root.ranges = 0;
    wsh_device_view.ranges = (uint64_t)&root;
    wsh_device_view.ring_heads = (uint64_t)&heads[0];
    wsh_device_view.locks = (uint64_t)&locks;
    wsh_device_view.slots = 0;
}

static void quiet(const int *numbers, int n)
{
    threadIdx = cpu_dim{0, 0, 0};
    wsh_dev_queues_order<WSH_THREAD>("quiet", numbers, n, true);
}

/* What is in the ring of queue i, and not complete at its target. */
static bool is_done(int number)
{
    struct wsh_dev_rings rings = wsh_dev_queue_rings("test", number, 0);

    return wsh_ptx_poll(&rings.ring[0].done) >= wsh_dev_ring_reserved(rings, 0);
}

static void check(const char *what, const unsigned char *at, size_t len, uint64_t seed)
{
    mp_check(!mp_wrong(at, len, seed), "%s of %zu bytes: %zu are wrong", what, len, mp_wrong(at, len, seed));
}

template <int S> static void move(int q, size_t len, unsigned round, int pe)
{
    uint64_t seed = round * 16 + (unsigned)q, before = words[0];
    int number = queues[q];

    mp_fill(outgoing, len, seed + (unsigned)mp_me * 1000);
    mp_fill(offered, len, seed + (unsigned)mp_me * 1000 + 7);
    shmem_barrier_all();
    cpu_block_run(S == WSH_THREAD ? 1 : LANES, [=] {
        if (round % 3 == 0)
            wsh_dev_queue_put<S, false>("put", landing[q], outgoing, len, pe, number);
        else if (round % 3 == 1)
            wsh_dev_queue_put<S, true>("put", landing[q], outgoing, len, pe, number);
        else
            wsh_dev_queue_put_signal<S, false>("put", landing[q], outgoing, len, words, 1, SHMEM_SIGNAL_ADD, pe, number);
        wsh_dev_queue_get<S, true>("get", got, offered, len, pe, number);
        wsh_dev_queues_order<S>("quiet", &number, 1, true);
    });
    check("get", got, len, seed + (unsigned)pe * 1000 + 7);
    mp_check(is_done(number), "queue %d is not done after its quiet", number);
    if (round % 3 == 2)
        shmem_uint64_wait_until(words, SHMEM_CMP_EQ, before + 1);
    else
        shmem_barrier_all();
    check("put", landing[q], len, seed + (unsigned)pe * 1000);
    shmem_barrier_all();
}

static void moves_arrive(int pe)
{
    static const size_t lens[] = {8, 700, 40000, BYTES};
    unsigned round = 0;

    for (size_t len : lens)
        for (int q = 0; q < QUEUES; q++)
            for (unsigned i = 0; i < 3; i++, round++) {
                move<WSH_THREAD>(q, len, round, pe);
                move<WSH_WARP>(q, len, round, pe);
                move<WSH_BLOCK>(q, len, round, pe);
            }
}

/* By one lane, on each queue. */
/* Of all PEs on one word, where its owner must be asked. */
static void reals_add_up()
{
    const unsigned n = (unsigned)mp_rounds(20, 200);

    threadIdx = cpu_dim{0, 0, 0};
    if (!shmem_ptr(words, 0))
        for (unsigned i = 0; i < n; i++) {
            wsh_dev_ask_real_add((double *)&words[8], 0.5, 0);
            wsh_dev_ask_real_add((float *)&words[9], 0.25f, 0);
        }
    shmem_barrier_all();
    if (mp_me == 0)
        mp_check(*(double *)&words[8] == n * 0.25 * mp_npes && *(float *)&words[9] == (float)n * 0.125f * (float)mp_npes,
                 "sums are %g and %g", *(double *)&words[8], (double)*(float *)&words[9]);
}

static void words_arrive(int pe)
{
    threadIdx = cpu_dim{0, 0, 0};
    for (int q = 0; q < QUEUES; q++) {
        wsh_dev_queue_p<uint64_t>("p", &words[1], 100 + (unsigned)q, pe, queues[q]);
        wsh_dev_queue_atomic_add<uint32_t>("add", (uint32_t *)&words[2], 3, pe, queues[q], false);
        wsh_dev_queue_signal("signal", wsh_dev_signal{&words[3], 5, SHMEM_SIGNAL_ADD, 0}, pe, queues[q]);
        quiet(&queues[q], 1);
        mp_check(wsh_dev_queue_g<uint64_t>("g", &words[1], pe, queues[q]) == 100 + (unsigned)q, "g of queue %d", q);
        mp_check(wsh_dev_queue_atomic_fetch_add<uint64_t>("fetch", &words[4], 2, pe, queues[q]) == 2 * (unsigned)q,
                 "fetch and add of queue %d", q);
    }
    quiet(queues, QUEUES);
    shmem_barrier_all();
    mp_check(words[1] == 100 + QUEUES - 1 && words[2] == 3 * QUEUES && words[3] == 5 * QUEUES && words[4] == 2 * QUEUES,
             "words are %llu, %llu, %llu, %llu", (unsigned long long)words[1], (unsigned long long)words[2],
             (unsigned long long)words[3], (unsigned long long)words[4]);
    shmem_barrier_all();
}

/* A count that comes behind rows, in the same queue, without a fence. */
static void counts_come_behind(int pe)
{
    uint64_t sent = 0;

    for (unsigned round = 0; round < (unsigned)mp_rounds(60, 600); round++) {
        size_t len = round % 2 ? 7168 : 60000;
        int q = (int)round % QUEUES, number = queues[q];

        mp_fill(outgoing, len, round * 10 + (unsigned)mp_me);
        threadIdx = cpu_dim{0, 0, 0};
        wsh_dev_queue_put<WSH_THREAD, false>("row", landing[q], outgoing, len, pe, number);
        if (round % 3)
            wsh_dev_queue_atomic_add<uint64_t>("count", &words[5], 1, pe, number, true);
        else
            wsh_dev_queue_p<uint64_t>("count", &words[5], sent + 1, pe, number, true);
        shmem_uint64_wait_until(&words[5], SHMEM_CMP_GE, ++sent);
        check("row", landing[q], len, round * 10 + (unsigned)pe);
        quiet(&number, 1);
        shmem_barrier_all();
    }
}

/* PE 0 puts to the stopped one by queue 0, and to another one by queue 1 and without a queue. */
static void quiet_is_of_one_queue(int stopped, int runs)
{
    std::atomic<bool> over{false};
    uint64_t wrong = 0;

    wsh_dev_queue_put<WSH_THREAD, true>("put", landing[0], outgoing, 1000, stopped, queues[0]);
    for (double until = mp_now() + 0.2; mp_now() < until;) /* it stops meanwhile */
        mp_sleep(0.01);
    wsh_dev_queue_put<WSH_THREAD, true>("put", landing[0], outgoing, 1000, stopped, queues[0]);
    std::thread waits([&] {
        quiet(&queues[0], 1);
        over = true;
    });
    for (unsigned i = 0; i < 50; i++) {
        wsh_dev_queue_p<uint64_t>("p", &words[6], i + 1, runs, queues[1]);
        quiet(&queues[1], 1);
        wrong += shmem_uint64_g(&words[6], runs) != i + 1;
        wsh_dev_queue_p<uint64_t>("p", &words[7], i + 1, runs, SHMEMX_QUEUE_DEFAULT);
        wsh_dev_ask_order(true);
        wrong += shmem_uint64_g(&words[7], runs) != i + 1;
    }
    mp_check(!wrong, "%llu of 100 words were not there after the quiet of their queue", (unsigned long long)wrong);
    mp_check(!over && !is_done(queues[0]), "the put to a stopped PE is complete");
    waits.join();
    mp_check(is_done(queues[0]), "a quiet has ended, and the queue is not done");
}

static void one_waits_alone()
{
    int stopped = mp_npes / 2, runs = stopped + 1;

    if (mp_npes < 4)
        return;
    memset(landing[0], 0, 1000);
    mp_fill(outgoing, 1000, 5);
    shmem_barrier_all();
    if (mp_me == stopped)
        mp_stopper_stop_me(2);
    else if (mp_me == 0)
        quiet_is_of_one_queue(stopped, runs);
    shmem_barrier_all();
    if (mp_me == stopped)
        check("put", landing[0], 1000, 5);
}

static void barrier_completes(int pe)
{
    for (unsigned round = 0; round < 20; round++) {
        threadIdx = cpu_dim{0, 0, 0};
        mp_fill(outgoing, BYTES, round * 10 + (unsigned)mp_me);
        for (int q = 0; q < QUEUES; q++)
            wsh_dev_queue_put<WSH_THREAD, true>("put", landing[q], outgoing, BYTES / 4, pe, queues[q]);
        shmem_barrier_all();
        for (int q = 0; q < QUEUES; q++)
            check("put before a barrier", landing[q], BYTES / 4, round * 10 + (unsigned)pe);
        shmem_barrier_all();
    }
}

/* Of a unit whose fences are of all queues: a word by another one comes behind the put, which is then complete. */
static void fences_are_of_all_queues(int pe)
{
    for (unsigned round = 1; round <= 40; round++) {
        threadIdx = cpu_dim{0, 0, 0};
        mp_fill(outgoing, 60000, round * 10 + (unsigned)mp_me);
        shmem_barrier_all();
        wsh_dev_queue_put<WSH_THREAD, false>("row", landing[0], outgoing, 60000, pe, queues[0]);
        wsh_dev_fence<WSH_THREAD>();
        mp_check(is_done(queues[0]), "a fence of all queues has left one to itself");
        wsh_dev_queue_p<uint64_t>("flag", &words[10], round, pe, round % 2 ? queues[1] : SHMEMX_QUEUE_DEFAULT);
        shmem_uint64_wait_until(&words[10], SHMEM_CMP_GE, round);
        check("row behind a fence of all queues", landing[0], 60000, round * 10 + (unsigned)pe);
        shmem_barrier_all();
    }
}

static void heaps_are_found(const char *device)
{
    const char *base = (const char *)shmemx_device_heap_base();

    mp_check(bases[mp_me] == (uint64_t)base, "this PE's heap is not where it is");
    for (int pe = 0; pe < mp_npes; pe++) {
        uint64_t there = (uint64_t)shmem_ptr(device, pe);

        mp_check(pe == mp_me || there == (bases[pe] ? bases[pe] + (uint64_t)(device - base) : 0),
                 "the heap of PE %d is at %llx", pe, (unsigned long long)bases[pe]);
    }
}

int main(void)
{
    static int many[WSH_DEVICE_QUEUES];
    const char *rank = getenv("PMIX_RANK");
    void *device;

    setenv("SHMEM_PROXY_THREADS", rank && atoi(rank) % 2 ? "2" : "1", 0);
    setenv("NVSHMEM_IBGDA_NUM_RC_PER_PE", "1", 1); /* there from the start */
    mp_stopper_start();
    mp_begin();
    mp_check(!shmemx_device_heap_base() && !shmemx_device_heap_peer_bases(), "a heap before the GPU is attached");
    mp_check(!shmemx_queue_create(1, queues) && queues[0] == WSH_DEVICE_QUEUE_FIRST + 1, "no queue before the attach");
    offered = (unsigned char *)mp_alloc(BYTES);
    outgoing = (unsigned char *)mp_alloc(BYTES);
    words = (uint64_t *)mp_alloc(11 * sizeof *words);
    for (unsigned char *&at : landing)
        at = (unsigned char *)mp_alloc(BYTES);
    device = shmemx_malloc_device(64);
    mp_check(!shmemx_queue_create(QUEUES - 1, queues + 1) && queues[2] == WSH_DEVICE_QUEUE_FIRST + 3, "no queues");
    if (mp_check(device && wsh_device_view.rings && wsh_device_view.ranges, "no rings to a proxy")) {
        uint64_t at = wsh_device_view.ranges;
        int pe = (mp_me + mp_npes / 2) % mp_npes;

        mp_check((uint64_t)shmemx_device_heap_peer_bases() == WSH_DEVICE_PEERS(at), "the table is elsewhere");
        take_root(at);
        mp_check(root.n_queues == 1 + QUEUES && root.n_named == 1 + QUEUES && root.queue[QUEUES].ring,
                 "%u queues, %u named", root.n_queues, root.n_named);
        heaps_are_found((const char *)device);
        moves_arrive(pe);
        words_arrive(pe);
        reals_add_up();
        counts_come_behind(pe);
        barrier_completes(pe);
        fences_are_of_all_queues(pe);
        one_waits_alone();
        mp_check(!shmemx_queue_create((int)WSH_DEVICE_QUEUES, many) && many[WSH_DEVICE_QUEUES - QUEUES] == queues[0] &&
                     many[WSH_DEVICE_QUEUES - 1] == queues[QUEUES - 1],
                 "numbers do not come again in turn");
        take_root(at);
        mp_check(root.n_queues == WSH_DEVICE_QUEUES && root.n_named == WSH_DEVICE_QUEUES + 1 + QUEUES, "%u rows, %u named",
                 root.n_queues, root.n_named);
    }
    mp_stopper_end();
    return mp_end();
}
