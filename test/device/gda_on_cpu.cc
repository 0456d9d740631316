/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send queues of NICs with CPU threads for lanes: the real posters, in several queues, alone, in runs and in a party;
 * the rings to a proxy beside them; and a NIC, a watcher and a proxy that complete out of order (gda_world.cuh). No
 * request is torn, passes a fence or is in the way of another; none is early for a quiet, after which sources are
 * overwritten. Each of a row of mistakes is found. Needs no GPU.
 */
#define WSH_DEVICE_PTX "test/device/cpu_gda.cuh"
#include "device/nic/gda_order.cuh"
#include "test/device/gda_world.cuh"

#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <unistd.h>

thread_local struct cpu_dim threadIdx;
struct cpu_dim blockDim;

struct ended {
};

static void way_arrives(size_t leave);
static thread_local unsigned seed;

static void go_on()
{
    if (world->wrong)
        throw ended();
    if (rand_r(&seed) % 4 == 0)
        way_arrives((size_t)rand_r(&seed) % 16);
    world_step();
    sched_yield();
}

void wsh_dev_ring_idle(struct wsh_dev_wait *)
{
    go_on();
}

/* Stores that have not arrived, of a lane, or of all lanes of its party that have come together. */
struct pending {
    uint64_t *wide;
    uint32_t *narrow;
    uint64_t value;
};

struct party {
    std::atomic<uint32_t> come{0}, turn{0};
    std::mutex mutex;
    std::vector<struct pending> pending;
    uint64_t value;
};

static struct party parties[POSTERS]; /* that of TOGETHER is number ALONE */
static thread_local struct party *mine;
static thread_local uint32_t lanes_of_mine;

static uint32_t members()
{
    return (uint32_t)__builtin_popcount(lanes_of_mine);
}

static void come_together()
{
    uint32_t turn = mine->turn;

    if (members() == 1)
        return;
    if (++mine->come == members()) {
        mine->come = 0;
        mine->turn++;
    }
    while (mine->turn == turn)
        go_on();
}

uint64_t wsh_ptx_party_from(uint32_t, uint64_t value, uint32_t leader)
{
    uint64_t got;

    if (wsh_ptx_lane() == leader)
        mine->value = value;
    come_together();
    got = mine->value;
    come_together();
    return got;
}

void wsh_ptx_party_sync(uint32_t)
{
    come_together();
}

static void arrive(const struct pending &store)
{
    if (store.wide)
        __atomic_store_n(store.wide, store.value, __ATOMIC_RELEASE);
    else
        __atomic_store_n(store.narrow, (uint32_t)store.value, __ATOMIC_RELEASE);
}

/* Of two to one word, the first one arrives first. */
static void arrive_some(size_t leave)
{
    std::lock_guard<std::mutex> guard(mine->mutex);

    while (mine->pending.size() > leave) {
        size_t i = (size_t)rand_r(&seed) % mine->pending.size();

        arrive(mine->pending[i]);
        mine->pending[i] = mine->pending.back();
        mine->pending.pop_back();
    }
}

/* What was passed on: the GPU sees it, and it is on its way to the NIC. */
static std::mutex on_the_way;
static std::vector<struct pending> way;

static void way_arrives(size_t leave)
{
    std::lock_guard<std::mutex> guard(on_the_way);

    while (way.size() > leave) {
        size_t i = (size_t)rand_r(&seed) % way.size();

        arrive(way[i]);
        way[i] = way.back();
        way.pop_back();
    }
}

static void pass_on_pending()
{
    std::lock_guard<std::mutex> guard(mine->mutex), other(on_the_way);

    way.insert(way.end(), mine->pending.begin(), mine->pending.end());
    mine->pending.clear();
}

static void store_later(const struct pending &store)
{
    {
        std::lock_guard<std::mutex> guard(mine->mutex);

        mine->pending.push_back(store);
    }
    if (rand_r(&seed) % 8 == 0)
        arrive_some((size_t)rand_r(&seed) % 8);
}

void wsh_ptx_nic_put(uint64_t *word, uint64_t value)
{
    if (world->mutant == PHASE_STAYS && (uint64_t)word % 64 == 0)
        value &= ~((uint64_t)1 << WSH_GDA_PHASE_AT);
    store_later(pending{word, nullptr, value});
}

void wsh_ptx_nic_put_pair(uint64_t *word, uint64_t first, uint64_t second)
{
    wsh_ptx_nic_put(word, first);
    wsh_ptx_nic_put(word + 1, second);
}

/* A doorbell arrives soon: before all else that has not been released. */
void wsh_ptx_nic_put(uint32_t *word, uint32_t value)
{
    if (world->mutant != DOORBELL_BEFORE_RELEASE) {
        store_later(pending{nullptr, word, value});
        return;
    }
    arrive(pending{nullptr, word, value});
    sched_yield();
}

void wsh_ptx_release()
{
    if (world->mutant == DOORBELL_BEFORE_RELEASE)
        return;
    arrive_some(0);
    way_arrives(0);
}

uint64_t wsh_ptx_poll(const uint64_t *word)
{
    return world->mutant == UNSETTLED && world_is_settled(word) ? UINT64_MAX / 2 : cpu_poll_any(word);
}

void wsh_ptx_pass_on(uint64_t *word, uint64_t value)
{
    if (world->mutant != STORED_WITHOUT_RELEASE || !world_is_stored(word))
        pass_on_pending();
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static struct wsh_dev_rings rings()
{
    return wsh_dev_rings_to(&world->ring, &world->heads, 1, 1, 0, 0);
}

static struct wsh_dev_gda_request request_of(uint32_t poster, uint32_t i)
{
    struct operation *operation = &world->poster[poster].operation[i];

    return wsh_dev_gda_request{(uint64_t)WSH_GDA_WRITE << WSH_GDA_OPERATION_AT,
                               (uint64_t)(0x80000000u + poster) << 32 | (0x4000u + poster) << 16 | (poster + 7),
                               (uint64_t)poster << 32 | i,
                               (uint64_t)&operation->source,
                               4,
                               poster * 3 + 1,
                               poster * 5 + 2,
                               poster};
}

/* What a poster is at. */
struct state {
    uint32_t poster, i, fenced; /* `fenced`: operations before the last fence */
    struct wsh_gda_queue *queue;
};

static void prepare(const struct state &state, uint32_t i)
{
    struct operation *operation = &world->poster[state.poster].operation[i];

    operation->source = world_token(state.poster, i);
    operation->need = state.fenced;
}

static void request(const struct state &state)
{
    wsh_dev_ring_send(rings(), wsh_dev_request{wsh_dev_ring_kind(WSH_RING_PUT_WORD), state.i, state.i, 0, 0, 4,
                                               (int)state.poster, 0},
                      1);
}

/* As of a list: one lane stores them all. */
static void post_run(struct state *state, uint32_t n)
{
    const struct wsh_dev_gda_run run = wsh_dev_gda_reserve(state->queue, n);
    const struct wsh_dev_gda_ring ring = wsh_dev_gda_ring_of(state->queue);

    for (uint32_t i = 0; i < n; i++) {
        prepare(*state, state->i);
        wsh_dev_gda_store(wsh_dev_gda_entry_of(ring, run.first + i, request_of(state->poster, state->i)));
        state->i++;
    }
    wsh_dev_gda_ring(state->queue, run, n);
}

static bool is_open()
{
    struct wsh_gda *gda = &world->gda;
    uint32_t r;

    if (wsh_ptx_poll(&gda->fences) == wsh_ptx_poll(&gda->fences_over))
        return true;
    r = wsh_dev_gda_fences_end(gda, rings());
    if (r != WSH_GDA_OPEN && r != WSH_GDA_CLOSED && wsh_dev_gda_is_to_request(gda))
        wsh_dev_ring_ask<false>(rings());
    return r == WSH_GDA_OPEN;
}

/* The same number for all of a party. */
static uint32_t draw(uint32_t n)
{
    return (uint32_t)wsh_ptx_party_from(lanes_of_mine, (uint64_t)rand_r(&seed) % n, 0);
}

static void operate(struct state *state)
{
    bool posts = draw(6) && wsh_ptx_party_from(lanes_of_mine, wsh_ptx_lane() || is_open(), 0);

    if (posts && members() == 1 && draw(4) == 0 && state->i + MAX_BATCH <= OPERATIONS) {
        post_run(state, 1 + draw(MAX_BATCH));
        return;
    }
    prepare(*state, state->i);
    if (posts)
        wsh_dev_gda_post(state->queue, lanes_of_mine,
                         request_of(state->poster, state->i));
    else
        request(*state);
    state->i++;
}

static void fence()
{
    struct wsh_gda *gda = &world->gda;
    uint32_t used = wsh_ptx_poll(&world->heads.used);

    wsh_ptx_release();
    wsh_dev_rings_fence(rings());
    if (world->mutant != FENCE_WITHOUT_QUEUES && world->mutant != FENCE_WITHOUT_RINGS) {
        wsh_dev_gda_fence(gda, rings());
        return;
    }
    if (world->mutant == FENCE_WITHOUT_QUEUES ? wsh_dev_gda_note_rings(gda, rings(), used) : wsh_dev_gda_note(gda))
        wsh_ptx_pass_on_add(&gda->fences, 1);
}

static void quiet()
{
    wsh_dev_rings_quiet(rings());
    if (world->mutant != QUIET_BY_COUNT) {
        wsh_dev_gda_quiet(&world->gda);
        return;
    }
    for (struct wsh_gda_queue *queue = world->gda.queue; queue != world->gda.queue + QUEUES; queue++)
        wsh_dev_ring_reach("quiet", &wsh_dev_gda_marks(queue)->completed, wsh_ptx_poll(&queue->rung));
}

static void overwrite(const struct state &state)
{
    struct poster *poster = &world->poster[state.poster];

    poster->mutex.lock();
    if (poster->low < state.i)
        world_wrong("a quiet was early");
    poster->mutex.unlock();
    for (uint32_t i = 0; i < state.i; i++)
        poster->operation[i].source = 0;
}

static void order(struct state *state, bool quiets)
{
    come_together();
    if (wsh_ptx_lane() == 0 && quiets)
        quiet();
    else if (wsh_ptx_lane() == 0)
        fence();
    come_together();
    if (quiets)
        overwrite(*state);
    else
        state->fenced = state->i;
}

static void post_all(struct state *state)
{
    while (state->i < OPERATIONS) {
        uint32_t what = draw(600);

        if (what < 12)
            order(state, what > 1);
        else
            operate(state);
    }
    order(state, true);
}

static void run_poster(uint32_t poster, unsigned from)
{
    struct state state = {poster, 0, 0, &world->gda.queue[poster % QUEUES]};

    seed = from;
    mine = &parties[poster < ALONE ? poster : (uint32_t)ALONE];
    lanes_of_mine = poster < ALONE ? 1 : (1u << TOGETHER) - 1;
    threadIdx.x = poster < ALONE ? 0 : poster - ALONE;
    if (poster >= ALONE)
        state.queue = &world->gda.queue[0];
    try {
        post_all(&state);
    } catch (const struct ended &) {
    }
}

/* How much was wrong. */
static unsigned run(enum mutant mutant, unsigned turn)
{
    std::vector<std::thread> posters;

    world_begin(mutant);
    way.clear();
    for (struct party &party : parties) {
        party.pending.clear();
        party.come = 0;
    }
    for (uint32_t p = 0; p < POSTERS; p++)
        posters.emplace_back(run_poster, p, turn * POSTERS + p + 1);
    for (std::thread &poster : posters)
        poster.join();
    for (struct poster &poster : world->poster)
        if (!world->wrong && poster.low != OPERATIONS)
            world_wrong("an operation is missing");
    return world->wrong;
}

enum { TURNS = 10 }; /* by which a mistake is found */

int main(void)
{
    static const char *const names[MUTANTS] = {
        "none", "quiet by count", "doorbell before release", "more than max_batch unrung", "no check for room",
        "fence without queues", "fence without rings", "phase is not flipped", "stored without a release",
        "stored while a doorbell is on its way"};
    int failed = 0;

    setvbuf(stdout, nullptr, _IOLBF, 0);
    alarm(120);
    for (int m = NONE; m < MUTANTS; m++) {
        unsigned wrong = run((enum mutant)m, 0);

        for (unsigned turn = 1; turn < TURNS && m != NONE && !wrong; turn++)
            wrong = run((enum mutant)m, turn);
        printf("# %s: %s; %llu by the NIC, %llu by the proxy, %llu fences\n", names[m], wrong ? world->first : "right",
               (unsigned long long)world->by_nic, (unsigned long long)world->by_proxy,
               (unsigned long long)world->gda.fences);
        failed |= m == NONE ? wrong || !world->by_nic || !world->by_proxy || !world->gda.fences_over : !wrong;
    }
    return failed;
}
