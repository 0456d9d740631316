/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the steps of the world of producers around the consumer, which is included to be called look by look. */
#include "test/device/ring_world.h"

#define TURN 1
#include "runtime/proxy_ring.c"

static struct world {
    struct wsh_ring ring[RINGS];
    struct flight flight[FLIGHTS];
    struct record record[RECORDS];
    struct producer producer[PRODUCERS];
    uint64_t head[RINGS], epoch;
    uint32_t started, behind; /* records; those that the consumer has fenced */
    uint32_t token_heard, token_before, token_fenced;
    bool token;
    uint8_t n_records;
    _Alignas(
        16) unsigned char consumer[sizeof(struct wsh_consumer) + RINGS * sizeof(struct wsh_consumer_ring)];
} world;

const char *world_wrong;
static const char *program[PRODUCERS];
static enum mutant mutant;

static struct wsh_consumer *consumer(void)
{
    return (struct wsh_consumer *)(void *)world.consumer;
}

static void wrong_if(bool is, const char *what)
{
    if (is && !world_wrong)
        world_wrong = what;
}

static uint64_t mark(unsigned id, unsigned chunk)
{
    return 0x100 + id * 4 + chunk;
}

static uint64_t *chunk_of(struct wsh_ring *ring, uint64_t at)
{
    return (uint64_t *)(void *)(ring->payload + at % WSH_RING_PIECES * WSH_RING_CHUNK);
}

static int exec_start(void *arg, const struct wsh_ring_ask *ask, struct wsh_done *done)
{
    struct record *record = &world.record[ask->sym % RECORDS];
    const uint64_t *payload = ask->payload;
    unsigned id = (unsigned)ask->sym;

    (void)arg;
    wrong_if(record->started || id >= world.n_records, "a record is taken twice");
    wrong_if(strchr("pd", record->letter) && payload[0] != mark(id, 0), "a payload is not there");
    wrong_if(record->letter == 'd' && payload[WSH_RING_CHUNK / 8] != mark(id, 1),
             "half a payload is not there");
    wrong_if(record->letter == 'w' && (ask->value != mark(id, 2) << 40 || payload[0] != ask->value),
             "a value is torn");
    wrong_if(record->behind & ~world.behind, "a fence is passed");
    record->started = true;
    record->done = done;
    record->result = record->letter == 'g' ? ask->payload : NULL;
    world.started |= 1u << id;
    done->left = 1;
    return 0;
}

static int exec_fence(void *arg)
{
    (void)arg;
    world.behind |= world.started;
    return 0;
}

static size_t exec_pending(void *arg)
{
    size_t n = 0;

    (void)arg;
    for (unsigned i = 0; i < world.n_records; i++)
        n += world.record[i].started && !world.record[i].complete;
    return n;
}

static const struct wsh_consumer_ops exec_ops = {exec_start, exec_fence, exec_pending};

static bool complete_one(unsigned id)
{
    struct record *record = &world.record[id];

    if (!record->started || record->complete)
        return false;
    if (record->result)
        *record->result = mark(id, 3);
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

static void store(struct producer *p, uint64_t *at, uint64_t value)
{
    unsigned i = 0;

    while (i < FLIGHTS && world.flight[i].at)
        i++;
    if (i == FLIGHTS) {
        wrong_if(true, "the model is too small");
        return;
    }
    world.flight[i] = (struct flight){at, value, p->after};
    p->heard |= 1u << i;
}

static void post(struct producer *p, struct wsh_ring *ring, uint64_t at, uint64_t a, uint64_t b)
{
    struct wsh_ring_piece *piece = &ring->piece[at % WSH_RING_PIECES];

    store(p, &piece->a, a | parity_of(at));
    store(p, &piece->b, b | parity_of(at));
}

static unsigned positions(char letter)
{
    return strchr("wd", letter) ? 2 : 1;
}

static void write_record(struct producer *p, struct wsh_ring *ring, char letter)
{
    static const uint8_t kinds[] = {WSH_RING_PUT, WSH_RING_PUT, WSH_RING_PUT_WORD, WSH_RING_GET,
                                    WSH_RING_QUIET};
    uint64_t kind = kinds[strchr("pdwgQ", letter) - "pdwgQ"];
    uint64_t len = letter == 'p' || letter == 'd' ? positions(letter) * WSH_RING_CHUNK
                   : letter == 'Q'                ? 0
                                                  : 8;

    for (unsigned i = 0; strchr("pd", letter) && i < positions(letter); i++)
        store(p, chunk_of(ring, p->pos + i), mark(p->id, i));
    if (strchr("pd", letter) && mutant != NO_PAYLOAD_RELEASE)
        p->after = p->heard;
    if (letter == 'w')
        post(p, ring, p->pos + 1, 0, mark(p->id, 2) << 40);
    post(p, ring, p->pos, kind << WSH_RING_KIND_AT | (letter == 'g' ? WSH_RING_ANSWER : 0) | p->id,
         world.epoch << WSH_RING_EPOCH_AT | len);
}

static void pad(struct producer *p, struct wsh_ring *ring, unsigned n)
{
    unsigned before = WSH_RING_PIECES - (unsigned)(p->pos % WSH_RING_PIECES);

    post(p, ring, p->pos, (uint64_t)WSH_RING_PAD << WSH_RING_KIND_AT, before);
    post(p, ring, p->pos + before, (uint64_t)WSH_RING_PAD << WSH_RING_KIND_AT, n - before);
}

static void next(struct producer *p)
{
    p->at++;
    p->phase = 0;
}

static void begin_record(struct producer *p, char letter)
{
    p->id = world.n_records++;
    wrong_if(p->id >= RECORDS, "too many records");
    world.record[p->id % RECORDS] = (struct record){.letter = (uint8_t)letter, .behind = p->fenced};
}

/* Phase 0 reserves, 1 writes once there is room, 2 waits for an answer. */
static bool step_record(struct producer *p, unsigned mine, char letter)
{
    struct wsh_ring *ring = &world.ring[mine];
    unsigned n = positions(letter);

    if (p->phase == 0) {
        p->pos = world.head[mine];
        world.head[mine] += n;
        p->phase = 1;
        return true;
    }
    if (p->phase == 1) {
        if (p->pos + n > ring->freed + WSH_RING_PIECES)
            return false;
        if (p->pos % WSH_RING_PIECES + n > WSH_RING_PIECES) {
            pad(p, ring, n);
            p->phase = 0;
            return true;
        }
        begin_record(p, letter);
        write_record(p, ring, letter);
        p->before |= 1u << p->id;
        p->phase = 2;
        if (letter != 'g')
            next(p);
        return true;
    }
    if (ring->answer[p->pos % WSH_RING_PIECES] != p->pos + 1)
        return false;
    wrong_if(*chunk_of(ring, p->pos) != mark(p->id, 3), "a result is not there");
    store(p, &ring->answer[p->pos % WSH_RING_PIECES], 0);
    next(p);
    return true;
}

/* Phase r waits for ring r. */
static bool step_fence(struct producer *p)
{
    if (p->phase < RINGS && mutant != NO_FENCE_WAIT) {
        if (world.ring[p->phase].started < world.head[p->phase])
            return false;
        p->phase++;
        return true;
    }
    world.epoch++;
    p->fenced |= p->before;
    next(p);
    return true;
}

static bool all_done(const struct producer *p, unsigned mine)
{
    for (unsigned r = 0; r < RINGS; r++)
        if (world.ring[r].done < p->heads[r] && (mutant != OWN_RING_QUIET || r == mine))
            return false;
    return true;
}

static bool end_quiet(struct producer *p)
{
    for (unsigned i = 0; i < world.n_records; i++)
        wrong_if(p->quiet >> i & 1 && !world.record[i].complete, "a quiet is early");
    next(p);
    return true;
}

static bool all_started(const struct producer *p)
{
    for (unsigned r = 0; r < RINGS; r++)
        if (world.ring[r].started < p->heads[r])
            return false;
    return true;
}

/*
 * Phase 0 looks at the heads, 1 at what is done; 2 reserves, 3 writes and 4 waits for a record of its own; 5 looks
 * again, 6 waits until all was taken.
 */
static bool step_quiet(struct producer *p, unsigned mine)
{
    struct wsh_ring *ring = &world.ring[mine];

    switch (p->phase) {
    case 0:
        p->after = p->heard;
        memcpy(p->heads, world.head, sizeof p->heads);
        p->quiet = p->before;
        p->phase = 1;
        return true;
    case 1: p->phase = 2; return all_done(p, mine) ? end_quiet(p) : true;
    case 2:
        p->pos = world.head[mine]++;
        p->phase = 3;
        return true;
    case 3:
        if (p->pos + 1 > ring->freed + WSH_RING_PIECES)
            return false;
        p->id = 0;
        write_record(p, ring, 'Q');
        p->phase = 4;
        return true;
    case 4:
        if (ring->done < p->pos + 1)
            return false;
        p->phase = 5;
        return true;
    case 5: p->phase = 6; return all_done(p, mine) || mutant == ASKS_ONCE ? end_quiet(p) : true;
    default:
        if (!all_started(p))
            return false;
        p->phase = 2;
        return true;
    }
}

static bool step_token(struct producer *p, char letter)
{
    if (letter == 'W' && !world.token)
        return false;
    if (letter == 'S') {
        world.token = true;
        world.token_heard |= p->heard;
        world.token_before |= p->before;
        world.token_fenced |= p->fenced;
    } else {
        p->heard |= world.token_heard;
        p->before |= world.token_before;
        p->fenced |= world.token_fenced;
    }
    next(p);
    return true;
}

static bool step_producer(unsigned i)
{
    struct producer *p = &world.producer[i];
    char letter = program[i][p->at];

    switch (letter) {
    case '\0': return false;
    case 'F': return step_fence(p);
    case 'Q': return step_quiet(p, i % RINGS);
    case 'S':
    case 'W': return step_token(p, letter);
    default: return step_record(p, i % RINGS, letter);
    }
}

/* The consumer's looks, one at a time. A look that finds nothing may still note that a ring has come to its stop. */
static bool step_consumer(unsigned which)
{
    static struct world before;
    int rc = 0;

    before = world;
    if (which < RINGS)
        rc = take(consumer(), &consumer()->ring[which]);
    else if (which < 2 * RINGS)
        rc = answer(&consumer()->ring[which - RINGS]) | free_places(&consumer()->ring[which - RINGS]);
    else
        rc = complete(consumer());
    wrong_if(rc < 0, "a record is damaged");
    memset(&consumer()->stats, 0, sizeof consumer()->stats);
    return memcmp(&before, &world, sizeof world) != 0;
}

enum { LOOKS = 2 * RINGS + 1, STEPS = LOOKS + PRODUCERS + RECORDS + FLIGHTS };

static bool step_world(int step)
{
    unsigned s = (unsigned)step;

    if (s < LOOKS)
        return step_consumer(s);
    s -= LOOKS;
    if (s < PRODUCERS)
        return step_producer(s);
    s -= PRODUCERS;
    return s < RECORDS ? complete_one(s) : deliver(s - RECORDS);
}

static void check_end(void)
{
    for (unsigned i = 0; i < PRODUCERS; i++)
        wrong_if(program[i][world.producer[i].at], "a producer waits for ever");
    for (unsigned i = 0; i < world.n_records; i++)
        wrong_if(!world.record[i].complete, "a record is lost");
    for (unsigned r = 0; r < RINGS; r++)
        wrong_if(world.ring[r].freed != world.head[r] || world.ring[r].done != world.head[r],
                 "a place is lost");
}

void world_begin(struct search *search, enum mutant broken, const char *const programs[PRODUCERS])
{
    mutant = broken;
    world_wrong = NULL;
    memcpy(program, programs, sizeof program);
    memset(&world, 0, sizeof world);
    wsh_consumer_init(consumer(), world.ring, RINGS, &exec_ops, NULL);
    *search = (struct search){.world = &world,
                              .size = sizeof world,
                              .steps = STEPS,
                              .step = step_world,
                              .at_end = check_end,
                              .wrong = &world_wrong};
}
