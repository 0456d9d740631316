/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inbox from which waiting kernels pull, with CPU threads for lanes, the very code of device/proxy/inbox.cuh, and
 * the staging's own side of the host. Lanes come and go, so that messages go to them, by the stream, and back from them
 * to the stream: each is executed once, in their order, whole. Needs no GPU.
 * --rounds=N: so many messages (200,000).
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include "device/proxy/inbox.cuh"
#include "test/device/inbox_host.h"

#include <atomic>
#include <cstdio>
#include <thread>
#include <unistd.h>
#include <vector>

enum { LANES = 3, STEP = 100 * INBOX_SLOTS };

static struct inbox_memory memory;
static struct wsh_device_locks locks;
static std::atomic<bool> stop;
static int failures;

/* The library that the view's unit makes itself known to is not here. */
extern "C" void wsh_device_register(const struct wsh_device_module *)
{
}

extern "C" void wsh_device_unregister(const struct wsh_device_module *)
{
}

static void check(bool holds, const char *what, uint64_t got, uint64_t want)
{
    if (holds)
        return;
    fprintf(stderr, "inbox_on_cpu: %s: %llu, not %llu\n", what, (unsigned long long)got, (unsigned long long)want);
    failures++;
}

/* Waits for a while, then does something else for a while: longer, now and then, than the host's patience. */
static void lane(unsigned number)
{
    unsigned seed = number * 2654435761u + 1;

    threadIdx = cpu_dim{number, 0, 0};
    while (!stop.load(std::memory_order_relaxed)) {
        seed = seed * 1103515245u + 12345;
        for (unsigned polls = seed >> 16 & 255; polls--;) {
            wsh_dev_pull();
            sched_yield();
        }
        usleep(seed >> 24 & 3 ? 0 : 9000);
    }
}

/*
 * Of those before `end`: the last message to a slot is whole there; every one that counts has counted, every one that
 * asks had its turn.
 */
static void look(uint64_t end, uint64_t counted, uint64_t turns, uint64_t last)
{
    for (unsigned slot = 0; slot < INBOX_SLOTS; slot++) {
        uint64_t first = memory.slot[slot][0], other = first;

        for (unsigned i = 0; i + 1 < INBOX_WORDS; i++)
            other = memory.slot[slot][i] == first ? other : memory.slot[slot][i];
        check(first == other, "a torn message", other, first);
        other = inbox_writer_before(end + slot);
        check(first == other, "an older message over a younger one", first, other);
    }
    check(memory.count == counted, "messages that count", memory.count, counted);
    check(memory.turn == turns, "messages in turn", memory.turn, turns);
    check(memory.last == last, "the last message", memory.last, last);
}

static void run(struct inbox_host *host, uint64_t rounds)
{
    uint64_t counted = 0, turns = 0, last = 0;

    for (uint64_t pos = 0; pos < rounds; pos += STEP) {
        inbox_host_run(host, pos, pos + STEP);
        for (uint64_t i = pos; i < pos + STEP; i++) {
            counted += inbox_what(i) == INBOX_SIGNAL;
            turns += inbox_what(i) == INBOX_TURN;
            last = inbox_what(i) == INBOX_LAST ? i : last;
        }
        look(pos + STEP, counted, turns, last);
        usleep(1500); /* the host forgets that nobody waited */
    }
}

int main(int argc, char **argv)
{
    struct inbox_host *host = inbox_host_open(&memory);
    std::vector<std::thread> lanes;
    struct inbox_counts n;
    uint64_t rounds = 200000;

    if (argc > 1 && !strncmp(argv[1], "--rounds=", 9))
        rounds = strtoull(argv[1] + 9, NULL, 10);
    blockDim = cpu_dim{LANES, 1, 1};
    wsh_device_view.inbox = (uint64_t)inbox_host_shared(host);
    wsh_device_view.locks = (uint64_t)&locks;
    for (unsigned i = 0; i < LANES; i++)
        lanes.emplace_back(lane, i);
    run(host, rounds);
    stop = true;
    for (std::thread &one : lanes)
        one.join();
    n = inbox_host_counts(host);
    printf("%llu messages: %llu pulled, %llu by the stream, %llu of these taken back\n", (unsigned long long)rounds,
           (unsigned long long)n.pulled, (unsigned long long)n.applied, (unsigned long long)n.taken_back);
    check(n.pulled + n.applied == rounds, "messages executed", n.pulled + n.applied, rounds);
    check(n.wrong == 0, "words that gets brought of another message", n.wrong, 0);
    check(n.pulled && n.applied && n.taken_back, "every way was gone", n.taken_back, 1);
    inbox_host_close(host);
    return failures != 0;
}
