/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A proxy thread that goes wrong: `ended` ends PE 0's when it next sleeps, `stopped` lets it sleep for ever, and then a
 * CPU thread that stands for a kernel asks it for a value. `full` lets it sleep for a second in which more is pushed
 * than the ring holds; `exit` and `finalize` push, and then only shmem_barrier_all, or shmem_finalize alone, comes.
 * `source` pushes a zero-copy put whose source is in no memory that the transports use.
 */
#define WSH_DEVICE_PTX "test/device/cpu_ring.cuh"
#include "device/proxy/ring_push.cuh"
#include "device/view/view.h"

#include <shmemx.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>

enum { PUTS = 3 * WSH_RING_PIECES };

thread_local struct cpu_dim threadIdx;
struct cpu_dim blockDim;

static struct wsh_device state;
static struct wsh_ring_heads heads;
static std::string fault; /* of the proxy thread, until it has happened */
static bool armed;

/* The library's own calls come here. */
extern "C" int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask)
{
    static auto real = (int (*)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))dlsym(RTLD_NEXT,
                                                                                                       "ppoll");
    char name[16] = "";

    pthread_getname_np(pthread_self(), name, sizeof name);
    if (__atomic_load_n(&armed, __ATOMIC_ACQUIRE) && !strncmp(name, "shmem-proxy", 11)) {
        __atomic_store_n(&armed, false, __ATOMIC_RELEASE);
        if (fault == "ended")
            pthread_exit(nullptr);
        sleep(fault == "full" ? 1 : 600);
    }
    return real(fds, n, time, mask);
}

/* The same calls of a library that was built with _FORTIFY_SOURCE. */
extern "C" int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask, size_t)
{
    return ppoll(fds, n, time, mask);
}

void wsh_dev_ring_idle(struct wsh_dev_wait *)
{
    usleep(100);
}

static int fill(const struct wsh_device *device)
{
    state = *device;
    return 0;
}

static const struct wsh_device_module module = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill, "proxy_fault.cc"};

static uint64_t request(enum wsh_ring_kind kind, uint64_t *sym, int pe, uint64_t value, bool answer)
{
    struct wsh_dev_rings rings = wsh_dev_rings_to((struct wsh_ring *)state.rings, &heads, state.consumers,
                                                  state.rings_each, 0, (uint32_t)pe);
    struct wsh_dev_request request = {wsh_dev_ring_kind(kind, WSH_AMO_ADD) | (answer ? WSH_RING_ANSWER : 0),
                                      (uint64_t)sym, value, 0, 0, 8, pe};
    uint64_t at = wsh_dev_ring_send(rings, request, 1), old = 0;

    if (answer) {
        old = wsh_dev_ring_await(rings, at);
        wsh_dev_ring_take(rings, at);
    }
    return old;
}

static void put_from_anywhere(uint64_t *word)
{
    struct wsh_dev_rings rings = wsh_dev_rings_to((struct wsh_ring *)state.rings, &heads, state.consumers,
                                                  state.rings_each, 0, 1);
    uint64_t local = 0, at = wsh_dev_ring_send(
        rings, wsh_dev_request_zero_copy(false, (uint64_t)word, &local, sizeof local, 1, true), 1);

    wsh_dev_ring_await(rings, at);
}

static void arm()
{
    __atomic_store_n(&armed, true, __ATOMIC_RELEASE);
    while (__atomic_load_n(&armed, __ATOMIC_ACQUIRE))
        usleep(1000);
}

/* What stands for the kernel of PE 0. */
static void kernel(uint64_t *word)
{
    if (fault == "source")
        put_from_anywhere(word);
    else if (fault == "ended" || fault == "stopped")
        request(WSH_RING_AMO, word, 1, 1, true);
    else
        for (unsigned i = 0; i < PUTS; i++)
            request(WSH_RING_AMO, word, 1, 1, false);
}

int main(int argc, char **argv)
{
    uint64_t *word;
    int status = 0;

    fault = argc > 1 ? argv[1] : "";
    shmem_init();
    wsh_device_register(&module);
    word = (uint64_t *)shmem_calloc(1, 8);
    if (!shmemx_malloc_device(64))
        status = 77;
    shmem_barrier_all();
    if (!status && shmem_my_pe() == 0) {
        if (fault != "exit" && fault != "finalize" && fault != "source")
            arm();
        std::thread(kernel, word).join();
    }
    if (!status && fault != "finalize") {
        shmem_barrier_all();
        if (shmem_my_pe() == 1)
            printf("%s: %llu of %u arrived\n", fault.c_str(), (unsigned long long)*word, (unsigned)PUTS);
    }
    shmem_finalize();
    return status;
}
