/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that post to NICs, and something goes wrong: a thread of PE 0 stands for the kernel, and its requests go to
 * the last PE, on the other host.
 *   key      the second of three requests has a key that the target has not given out
 *   killed   the target dies while requests are under way
 *   held     the watcher stands still; what has been posted arrives all the same, and is noted when it goes on
 *   ended    the watcher's thread is ended; stopped: it stands still for ever
 *   works    nothing goes wrong
 */
#include "device/nic/gda.h"
#include "device/view/view.h"

#include <shmemx.h>

#include "test/mp/helper/gda_poster.cuh"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <thread>
#include <time.h>

enum { BLOCK = 64, BLOCKS = 4095 }; /* less than a queue of the emulated device takes */

static struct wsh_device state;
static std::string fault;
static bool armed, held; /* the watcher is to stand still; it does */
static unsigned char *landing, *outgoing;
static uint64_t *flag;
static int target;

/* The watcher sleeps when nothing has come for a while. */
extern "C" int nanosleep(const struct timespec *time, struct timespec *left)
{
    static auto real = (int (*)(const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "nanosleep");
    const struct timespec some = {0, 1000000};
    char name[16] = "";

    pthread_getname_np(pthread_self(), name, sizeof name);
    if (strcmp(name, "shmem-gda"))
        return real(time, left);
    while (__atomic_load_n(&armed, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&held, true, __ATOMIC_RELEASE);
        if (fault == "ended")
            pthread_exit(nullptr);
        real(&some, nullptr);
    }
    __atomic_store_n(&held, false, __ATOMIC_RELEASE);
    return real(time, left);
}

static int fill(const struct wsh_device *device)
{
    state = *device;
    return 0;
}

static const struct wsh_device_module module = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill, "gda_fault.cc"};

static void watcher_hold()
{
    __atomic_store_n(&armed, true, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
        sched_yield();
}

static bool arrived()
{
    for (size_t i = 0; i < (size_t)BLOCK * BLOCKS; i++)
        if (__atomic_load_n(&landing[i], __ATOMIC_ACQUIRE) != (unsigned char)(i * 7 + 1))
            return false;
    return true;
}

static void post_all()
{
    poster_move(&state, WSH_GDA_WRITE, landing, outgoing, BLOCK, BLOCKS, target, 1);
}

static void post_foreign_key()
{
    for (unsigned i = 0; i < 3; i++)
        poster_store(&state, &gda->queue[0], WSH_GDA_WRITE, target, landing, outgoing, BLOCK, {i == 1 ? 0x5a5a00u : 0});
    poster_ring(&gda->queue[0]);
    poster_await(1);
}

/* Until the job is ended. */
static void post_to_the_dead()
{
    for (;;) {
        post_all();
        poster_await(1);
    }
}

/* The target has seen all, and says so by its own queue, before anything of it is noted here. */
static void post_unwatched()
{
    watcher_hold();
    post_all();
    while (!acquired(flag))
        sched_yield();
    printf("held: all %d arrived, %llu noted\n", (int)BLOCKS, (unsigned long long)acquired(&marks_of(&gda->queue[0])->completed));
    __atomic_store_n(&armed, false, __ATOMIC_RELEASE);
    poster_await(1);
    printf("held: all %d noted\n", (int)BLOCKS);
}

static void answer()
{
    while (!arrived())
        sched_yield();
    *(uint64_t *)outgoing = 1;
    poster_store(&state, &gda->queue[0], WSH_GDA_WRITE, 0, flag, outgoing, sizeof *flag, {});
    poster_ring(&gda->queue[0]);
}

static void die()
{
    while (!__atomic_load_n(&landing[BLOCK], __ATOMIC_ACQUIRE))
        sched_yield();
    raise(SIGKILL);
}

/* What stands for the kernel of PE 0. */
static void kernel()
{
    if (fault == "key")
        post_foreign_key();
    else if (fault == "killed")
        post_to_the_dead();
    else if (fault == "held")
        post_unwatched();
    else
        post_all();
}

static void run()
{
    if (shmem_my_pe() == 0) {
        if (fault == "ended" || fault == "stopped")
            watcher_hold();
        std::thread(kernel).join();
    } else if (shmem_my_pe() == target && fault == "held") {
        answer();
    } else if (shmem_my_pe() == target && fault == "killed") {
        die();
    }
}

int main(int argc, char **argv)
{
    fault = argc > 1 ? argv[1] : "";
    shmem_init();
    target = shmem_n_pes() - 1;
    wsh_device_register(&module);
    landing = (unsigned char *)shmem_calloc(BLOCKS, BLOCK);
    outgoing = (unsigned char *)shmem_malloc(BLOCKS * BLOCK);
    flag = (uint64_t *)shmem_calloc(1, sizeof *flag);
    for (size_t i = 0; i < (size_t)BLOCK * BLOCKS; i++)
        outgoing[i] = (unsigned char)(i * 7 + 1);
    if (!shmemx_malloc_device(64) || !(state.flags & WSH_DEVICE_GDA)) {
        fprintf(stderr, "skip: kernels do not post to NICs\n");
        shmem_finalize();
        return 77;
    }
    poster_open(&state);
    shmem_barrier_all();
    run();
    shmem_barrier_all();
    if (shmem_my_pe() == target)
        printf("%s: %s\n", fault.c_str(), arrived() ? "all is there" : "NOT all is there");
    shmem_finalize();
    return 0;
}
