/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of memory and of consumers, whose source is included so that each look is one call. */
#include "test/device/ring_world.h"

#define TURN 1
#include "runtime/gpu/proxy/consumer.c"
#include "runtime/gpu/proxy/ring.c"

struct world world;
const char *world_wrong;
const char *world_program[PRODUCERS];
enum mutant world_mutant;

static struct wsh_consumer *consumer(unsigned c)
{
    return (struct wsh_consumer *)(void *)world.consumer[c];
}

void world_wrong_if(bool is, const char *what)
{
    if (is && !world_wrong)
        world_wrong = what;
}

static int exec_start(void *arg, const struct wsh_ring_request *request, struct wsh_done *done)
{
    struct record *record = &world.record[request->sym % RECORDS];
    const uint64_t *payload = request->payload;
    unsigned id = (unsigned)request->sym, by = (unsigned)(uintptr_t)arg;

    world_wrong_if(record->started || id >= world.n_records, "a record is taken twice");
    world_wrong_if(strchr("pd", record->letter) && payload[0] != world_mark(id, 0), "a payload is not there");
    world_wrong_if(record->letter == 'd' && payload[WSH_RING_CHUNK / 8] != world_mark(id, 1),
                   "half a payload is not there");
    world_wrong_if(record->letter == 'w' &&
                       (request->value != world_mark(id, 2) << 40 || payload[0] != request->value),
                   "a value is torn");
    world_wrong_if(record->behind & ~world.behind, "a fence is passed");
    record->started = true;
    record->by = (uint8_t)by;
    record->done = done;
    record->result = strchr("gG", record->letter) ? request->payload : NULL;
    world.started[by] |= 1u << id;
    done->left = 1;
    return 0;
}

static int exec_fence(void *arg)
{
    world.behind |= world.started[(uintptr_t)arg];
    return 0;
}

static size_t exec_pending(void *arg, bool sources, bool awaited)
{
    (void)awaited;
    size_t n = 0;

    for (unsigned i = 0; i < world.n_records; i++) {
        const struct record *record = &world.record[i];

        n += record->started && !(sources ? record->read : record->complete) && record->by == (uintptr_t)arg;
    }
    return n;
}

static const struct wsh_consumer_ops exec_ops = {exec_start, exec_fence, exec_pending};

/* Where a program flushes, a record is read before it is complete. */
static bool complete_one(unsigned id)
{
    struct record *record = &world.record[id];
    bool was_read = record->read;

    if (!record->started || record->complete)
        return false;
    record->read = true;
    if (world.flushes && !was_read)
        return true;
    if (record->result)
        *record->result = world_mark(id, 3);
    record->complete = true;
    record->done->left = 0;
    return true;
}

static bool deliver(unsigned i)
{
    struct flight *flight = &world.flight[i];

    if (!flight->at || flight->after)
        return false;
    *flight->at = flight->value;
    *flight = (struct flight){0};
    for (unsigned f = 0; f < FLIGHTS; f++)
        world.flight[f].after &= ~(1u << i);
    for (unsigned p = 0; p < PRODUCERS; p++) {
        world.producer[p].heard &= ~(1u << i);
        world.producer[p].after &= ~(1u << i);
    }
    world.token_heard &= ~(1u << i);
    return true;
}

/* A consumer's looks, one at a time. A look that finds nothing may still note that a ring has come to its stop. */
static bool step_consumer(unsigned which)
{
    static struct world before;
    unsigned each = RINGS / world.n_consumers, r = which % RINGS;
    struct wsh_consumer *owner = consumer(r / each);
    int rc = 0;

    before = world;
    if (which < RINGS)
        rc = ring_take(owner, &owner->ring[r % each]);
    else if (which < 2 * RINGS)
        rc = ring_answer(&owner->ring[r % each]) | free_slots(&owner->ring[r % each]);
    else if (r < world.n_consumers)
        rc = rings_end(consumer(r));
    world_wrong_if(rc < 0, "a record is damaged");
    for (unsigned c = 0; c < world.n_consumers; c++)
        memset(&consumer(c)->stats, 0, sizeof consumer(c)->stats);
    return memcmp(&before, &world, sizeof world) != 0;
}

enum { POLLS = 2 * RINGS + CONSUMERS, STEPS = POLLS + PRODUCERS + RECORDS + FLIGHTS };

static bool step_world(int step)
{
    unsigned s = (unsigned)step;

    if (s < POLLS)
        return step_consumer(s);
    s -= POLLS;
    if (s < PRODUCERS)
        return world_step_producer(s);
    s -= PRODUCERS;
    return s < RECORDS ? complete_one(s) : deliver(s - RECORDS);
}

static void check_end(void)
{
    for (unsigned i = 0; i < PRODUCERS; i++)
        world_wrong_if(world_program[i][world.producer[i].at], "a producer waits for ever");
    for (unsigned i = 0; i < world.n_records; i++)
        world_wrong_if(!world.record[i].complete, "a record is lost");
    for (unsigned r = 0; r < RINGS; r++)
        world_wrong_if(world.ring[r].freed != world.head[r] || world.ring[r].done != world.head[r] ||
                           world.ring[r].read != world.head[r],
                       "a place is lost");
}

void world_begin(struct search *search, unsigned n_consumers, enum mutant broken,
                 const char *const programs[PRODUCERS])
{
    unsigned each = RINGS / n_consumers;

    world_mutant = broken;
    world_wrong = NULL;
    memcpy(world_program, programs, sizeof world_program);
    memset(&world, 0, sizeof world);
    world.n_consumers = (uint8_t)n_consumers;
    for (unsigned i = 0; i < PRODUCERS; i++)
        world.flushes |= strchr(programs[i], 'L') != NULL;
    for (unsigned c = 0; c < n_consumers; c++)
        wsh_consumer_init(consumer(c), &world.ring[c * each], each, &exec_ops, (void *)(uintptr_t)c);
    *search = (struct search){.world = &world,
                              .size = sizeof world,
                              .steps = STEPS,
                              .step = step_world,
                              .at_end = check_end,
                              .wrong = &world_wrong};
}
