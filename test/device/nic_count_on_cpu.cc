/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels make of NICs' words of 31 bits, with CPU threads for lanes: the very code of device/nic/nic_count.cuh.
 * Lanes that look at once, through many wraps, see a count that never falls and is never more than was counted, and
 * nobody but they keeps it; words that are not in use are not looked at. Where nobody keeps it the count goes wrong,
 * which the test must see. Needs no GPU.
 */
#define WSH_DEVICE_PTX "test/device/cpu_ring.cuh"
#include "device/nic/nic_count.cuh"

#include <atomic>
#include <cstdio>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <vector>

thread_local struct cpu_dim threadIdx;
struct cpu_dim blockDim;

enum { LANES = 3, WORDS = 2, STEPS = 400 };
#define STEP ((uint64_t)1 << 26)

static struct wsh_device_nic_counter counter;
static std::atomic<uint64_t> sent;
static std::atomic<unsigned> wrong, looks[LANES];
static std::atomic<bool> over;

static void look(unsigned lane)
{
    uint64_t last = 0;

    while (!over) {
        uint64_t value = wsh_dev_nic_count(&counter);

        wrong += value < last || value > WORDS * sent;
        last = value;
        looks[lane]++;
        sched_yield();
    }
}

/* Not before each lane has looked since the last one: it may not take long over a look. */
static void count_one(const uint64_t *begin, uint64_t n)
{
    unsigned seen[LANES];

    sent = n * STEP;
    for (unsigned i = 0; i < WORDS; i++)
        __atomic_store_n(&counter.count[i], (begin[i] + n * STEP) & WSH_NIC_WORD_MASK, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < LANES; i++)
        seen[i] = looks[i];
    for (unsigned i = 0; i < LANES; i++)
        while (looks[i] < seen[i] + 2)
            sched_yield();
}

/* How much was wrong. */
static unsigned run(bool keeps)
{
    static const uint64_t begin[WORDS] = {WSH_NIC_WORD_MASK - 63, 5};
    static uint64_t elsewhere[WORDS];
    std::vector<std::thread> lanes;

    counter = {};
    sent = 0;
    wrong = 0;
    over = false;
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t *kept = keeps ? &counter.word[i].kept : &elsewhere[i];

        *kept = counter.count[i] = begin[i];
        counter.word[i] = wsh_device_nic_word{(uint64_t)&counter.count[i], begin[i], (uint64_t)kept,
                                              keeps ? begin[i] : 0};
    }
    counter.count[WORDS] = counter.word[WORDS].base = 77;
    for (unsigned i = 0; i < LANES; i++)
        lanes.emplace_back(look, i);
    for (uint64_t n = 1; n <= STEPS; n++)
        count_one(begin, n);
    over = true;
    for (std::thread &lane : lanes)
        lane.join();
    return wrong + (wsh_dev_nic_count(&counter) != WORDS * STEPS * STEP);
}

int main()
{
    unsigned right, mutant;

    alarm(120);
    right = run(true);
    mutant = run(false);
    printf("# %u wrong; with nothing kept, %u\n", right, mutant);
    return right || !mutant;
}
