/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/device/gda_world.cuh"

#include <cstdlib>
#include <cstring>
#include <set>

struct world *world;

/* An operation under way, until its time. */
struct flight {
    uint64_t number, due;
    uint32_t poster, i;
};

static std::mutex stepping;
static std::vector<struct flight> flights[QUEUES];
static std::vector<uint64_t> completions[QUEUES]; /* not yet seen by the watcher */
static std::set<uint64_t> over[QUEUES];           /* seen by the watcher, beyond its mark */
static uint64_t taken[QUEUES], now;

/* The proxy's: what a fence holds it for, whether it takes nothing until all is complete, what is under way. */
static struct proxy {
    uint64_t at, now;
    uint64_t epoch, posted[QUEUES];
    bool holds, quiets;
    std::vector<struct flight> flights;
} proxy;

bool world_is_stored(const uint64_t *word)
{
    for (const struct wsh_gda_queue &queue : world->gda.queue)
        if (word >= queue.stored && word < queue.stored + WSH_GDA_RUNS)
            return true;
    return false;
}

bool world_is_settled(const uint64_t *word)
{
    for (const struct wsh_gda_queue &queue : world->gda.queue)
        if (word == &queue.settled)
            return true;
    return false;
}

void world_wrong(const char *what)
{
    static std::mutex mutex;
    std::lock_guard<std::mutex> guard(mutex);

    if (!world->wrong)
        world->first = what;
    world->wrong++;
}

static void begin_queue(unsigned q)
{
    static const uint32_t entries[QUEUES] = {32, 64, 16};
    struct wsh_gda_queue *queue = &world->gda.queue[q];

    queue->entries = entries[q];
    queue->entry_words = q == 1 ? 2 * WSH_GDA_WORDS : WSH_GDA_WORDS;
    queue->max_batch = world->mutant == LONG_BATCH ? 4 * MAX_BATCH : MAX_BATCH;
    world->words[q].assign(entries[q] * queue->entry_words + 16, WORLD_UNWRITTEN);
    queue->ring = ((uint64_t)world->words[q].data() + 127) & ~(uint64_t)127;
    queue->doorbell = (uint64_t)&world->doorbell[q];
    queue->marks = (uint64_t)&world->marks[q];
    queue->reserved = queue->rung = queue->completed = queue->mark = queue->fenced = queue->settled =
        START;
    if (world->mutant == NO_ROOM_CHECK)
        queue->completed = (uint64_t)1 << 40;
    world->marks[q].completed = world->marks[q].mark = world->marks[q].posted = START;
    world->doorbell[q] = START;
    taken[q] = START;
    flights[q].clear();
    completions[q].clear();
    over[q].clear();
}

void world_begin(enum mutant mutant)
{
    delete world;
    world = new struct world();
    world->mutant = mutant;
    world->gda.n_queues = world->gda.n_all = QUEUES;
    proxy = {};
    for (unsigned q = 0; q < QUEUES; q++)
        begin_queue(q);
}

void world_land(uint32_t p, uint32_t i)
{
    struct poster *poster = &world->poster[p];
    std::lock_guard<std::mutex> guard(poster->mutex);
    struct operation *operation = &poster->operation[i];

    if (operation->source != world_token(p, i))
        world_wrong("a source was overwritten before it was read");
    if (operation->landed)
        world_wrong("an operation came twice");
    if (poster->low < operation->need)
        world_wrong("an operation has passed a fence");
    operation->landed = true;
    while (poster->low < OPERATIONS && poster->operation[poster->low].landed)
        poster->low++;
}

static uint64_t *entry_of(const struct wsh_gda_queue *queue, uint64_t number)
{
    return (uint64_t *)queue->ring + number % queue->entries * queue->entry_words;
}

static uint64_t word(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* Requests that were announced and not yet taken. */
static uint32_t announced(unsigned q)
{
    return (uint16_t)(__atomic_load_n(&world->doorbell[q], __ATOMIC_ACQUIRE) - (uint32_t)taken[q]);
}

/* An entry max_batch behind the last announced one must have been announced meanwhile. */
static void check_batch(unsigned q)
{
    const struct wsh_gda_queue *queue = &world->gda.queue[q];
    uint32_t before = announced(q);
    uint64_t beyond = taken[q] + before + MAX_BATCH;

    if (beyond - taken[q] < queue->entries && word(entry_of(queue, beyond)) != WORLD_UNWRITTEN &&
        announced(q) == before)
        world_wrong("more than max_batch requests without a doorbell");
}

/* The words of the next request, taken out of its entry. */
static void take(const struct wsh_gda_queue *queue, uint64_t number, uint64_t *w)
{
    uint64_t *entry = entry_of(queue, number);

    for (uint32_t i = 0; i < queue->entry_words; i++) {
        w[i] = word(&entry[i]);
        if (w[i] == WORLD_UNWRITTEN)
            world_wrong("an entry is torn");
        if (i >= WSH_GDA_WORDS && w[i] != 0)
            world_wrong("a wide entry does not end in zeros");
        __atomic_store_n(&entry[i], WORLD_UNWRITTEN, __ATOMIC_RELEASE);
    }
}

static bool is_right(const struct wsh_gda_queue *queue, uint64_t number, const uint64_t *w, uint32_t poster, uint32_t i)
{
    uint64_t head = WSH_GDA_META | WSH_GDA_FIRST | WSH_GDA_LAST | WSH_GDA_COMPLETION |
                    (uint64_t)1 << WSH_GDA_PIECES_AT | (uint64_t)WSH_GDA_WRITE << WSH_GDA_OPERATION_AT | (uint64_t)(0x4000 + poster) << WSH_GDA_QPN_AT |
                    (number & 0xffff) | (number / queue->entries & 1) << WSH_GDA_PHASE_AT;
    uint64_t id = number | (uint64_t)poster << WSH_GDA_PE_AT;

    return w[0] == head && w[1] == (uint64_t)(poster + 7) << WSH_GDA_AH_AT && w[2] == 0x80000000u + poster &&
           w[3] == (id & ~(uint64_t)0xffff) && w[4] == ((uint64_t)(poster * 3 + 1) << WSH_GDA_KEY_AT | 4) &&
           w[5] == ((uint64_t)poster << 32 | i) && w[6] == ((uint64_t)(poster * 5 + 2) << WSH_GDA_KEY_AT | 4);
}

/* Poster and operation by the address of the source. */
static bool find(const uint64_t *w, uint32_t *poster, uint32_t *i)
{
    *poster = (uint32_t)(w[5] >> 32);
    *i = (uint32_t)w[5];
    return *poster < POSTERS && *i < OPERATIONS && w[7] == (uint64_t)&world->poster[*poster].operation[*i].source;
}

static void take_one(unsigned q, std::vector<struct flight> *flights, uint64_t now)
{
    const struct wsh_gda_queue *queue = &world->gda.queue[q];
    uint64_t number = taken[q], w[2 * WSH_GDA_WORDS];
    struct flight flight = {number, now + (rand() % 32 ? rand() % 16 : 100), 0, 0};

    if (number - word(&world->marks[q].completed) >= queue->entries)
        world_wrong("a request without room");
    take(queue, number, w);
    if (world->wrong)
        return;
    if (!find(w, &flight.poster, &flight.i) || !is_right(queue, number, w, flight.poster, flight.i)) {
        world_wrong((w[0] >> WSH_GDA_PHASE_AT & 1) != (number / queue->entries & 1) ? "a wrong phase"
                                                                                    : "a request is not as was meant");
        return;
    }
    if (word(&world->marks[q].posted) <= number)
        world_wrong("a request is announced that was not counted as posted");
    flights->push_back(flight);
    taken[q]++;
    world->by_nic++;
}

/* Lands all whose time has come. */
static void land_due(unsigned q, std::vector<struct flight> *flights, uint64_t now)
{
    for (size_t i = flights->size(); i-- > 0;) {
        struct flight flight = (*flights)[i];

        if (flight.due > now)
            continue;
        (*flights)[i] = flights->back();
        flights->pop_back();
        world_land(flight.poster, flight.i);
        completions[q].push_back(flight.number);
    }
}

static void step_nic(uint64_t now)
{
    for (unsigned q = 0; q < QUEUES && !world->wrong; q++) {
        uint32_t n = announced(q);

        if (n > world->gda.queue[q].entries)
            world_wrong("a doorbell went back, or beyond what there is room for");
        check_batch(q);
        while (n-- > 0 && !world->wrong)
            take_one(q, &flights[q], now);
        land_due(q, &flights[q], now);
    }
}

static void step_watcher()
{
    for (unsigned q = 0; q < QUEUES; q++) {
        struct wsh_gda_marks *marks = &world->marks[q];
        uint64_t mark = marks->mark;

        for (uint64_t number : completions[q])
            over[q].insert(number);
        while (over[q].erase(mark))
            mark++;
        __atomic_store_n(&marks->mark, mark, __ATOMIC_RELEASE);
        __atomic_store_n(&marks->completed, marks->completed + completions[q].size(), __ATOMIC_RELEASE);
        completions[q].clear();
    }
}

/* Both halves of a piece, once it is there. */
static bool piece_at(uint64_t at, struct wsh_ring_piece *piece)
{
    const struct wsh_ring_piece *from = &world->ring.piece[at % WSH_RING_PIECES];
    uint64_t parity = at / WSH_RING_PIECES % 2 ? 0 : WSH_RING_PARITY;

    piece->a = word(&from->a) ^ parity;
    piece->b = word(&from->b) ^ parity;
    return !((piece->a | piece->b) & WSH_RING_PARITY);
}

static bool queues_are_at(const uint64_t *posted)
{
    bool are = true;

    for (unsigned q = 0; q < QUEUES; q++)
        are = are && word(&world->marks[q].mark) >= posted[q];
    return are;
}

/* A record of a later epoch waits until all is complete that came before, by whichever way. */
static bool may_start(const struct wsh_ring_piece &first)
{
    uint64_t epoch = first.b >> WSH_RING_EPOCH_AT & WSH_RING_LOW(WSH_RING_EPOCH_BITS);

    if (epoch > proxy.epoch) {
        proxy.epoch = epoch;
        proxy.holds = true;
        for (unsigned q = 0; q < QUEUES; q++)
            proxy.posted[q] = word(&world->marks[q].posted);
    }
    if (proxy.holds)
        proxy.holds = !proxy.flights.empty() || !queues_are_at(proxy.posted);
    return !proxy.holds;
}

/* The next record, if it is there and may start. */
static bool start_next()
{
    struct wsh_ring_piece first, second;
    unsigned kind;

    if (proxy.quiets || !piece_at(proxy.at, &first))
        return false;
    kind = (unsigned)(first.a >> WSH_RING_KIND_AT & 31);
    if (kind == WSH_RING_PUT_WORD) {
        if (!piece_at(proxy.at + 1, &second) || !may_start(first))
            return false;
        proxy.flights.push_back(flight{proxy.at, proxy.now + (rand() % 32 ? rand() % 16 : 40),
                                        (uint32_t)(first.b >> WSH_RING_PE_AT & WSH_RING_LOW(WSH_RING_PE_BITS)),
                                        (uint32_t)second.b});
        proxy.at++;
        world->by_proxy++;
    } else if (kind == WSH_RING_PAD)
        proxy.at += (first.b & WSH_RING_LOW(WSH_RING_LEN_BITS)) - 1;
    proxy.quiets = kind == WSH_RING_QUIET;
    proxy.at++;
    return true;
}

static void step_proxy()
{
    proxy.now++;
    while (start_next())
        continue;
    __atomic_store_n(&world->ring.started, proxy.at, __ATOMIC_RELEASE);
    __atomic_store_n(&world->ring.freed, proxy.at, __ATOMIC_RELEASE);
    for (size_t i = proxy.flights.size(); i-- > 0;)
        if (proxy.flights[i].due <= proxy.now) {
            struct flight flight = proxy.flights[i];

            proxy.flights[i] = proxy.flights.back();
            proxy.flights.pop_back();
            world_land(flight.poster, flight.i);
        }
    if (proxy.flights.empty()) {
        proxy.quiets = false;
        __atomic_store_n(&world->ring.done, proxy.at, __ATOMIC_RELEASE);
    }
}

void world_step()
{
    if (!stepping.try_lock())
        return;
    if (!world->wrong) {
        step_nic(now++);
        step_watcher();
        step_proxy();
    }
    stepping.unlock();
}
