/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of producers, as device/proxy/ring_push.cuh takes them. */
#include "test/device/ring_world.h"

#include <string.h>

static void store(struct producer *p, uint64_t *at, uint64_t value)
{
    unsigned i = 0;

    while (i < FLIGHTS && world.flight[i].at)
        i++;
    if (i == FLIGHTS) {
        world_wrong_if(true, "the model is too small");
        return;
    }
    world.flight[i] = (struct flight){at, value, p->after};
    p->heard |= 1u << i;
}

static void post(struct producer *p, struct wsh_ring *ring, uint64_t at, uint64_t a, uint64_t b)
{
    struct wsh_ring_piece *piece = &ring->piece[at % WSH_RING_PIECES];

    store(p, &piece->a, a | (at / WSH_RING_PIECES % 2 ? 0 : WSH_RING_PARITY));
    store(p, &piece->b, b | (at / WSH_RING_PIECES % 2 ? 0 : WSH_RING_PARITY));
}

static unsigned positions(char letter)
{
    return strchr("wd", letter) ? 2 : 1;
}

static void write_record(struct producer *p, struct wsh_ring *ring, char letter)
{
    static const char letters[] = "pdwgGQL";
    static const uint8_t kinds[] = {WSH_RING_PUT, WSH_RING_PUT,   WSH_RING_PUT_WORD, WSH_RING_GET_WORD,
                                    WSH_RING_GET, WSH_RING_QUIET, WSH_RING_FLUSH};
    uint64_t kind = kinds[strchr(letters, letter) - letters];
    uint64_t len = letter == 'p' || letter == 'd' ? positions(letter) * WSH_RING_CHUNK
                   : strchr("QL", letter)         ? 0
                                                  : 8;

    for (unsigned i = 0; strchr("pd", letter) && i < positions(letter); i++)
        store(p, world_chunk(ring, p->pos + i), world_mark(p->id, i));
    if (strchr("pd", letter) && world_mutant != NO_PAYLOAD_RELEASE)
        p->after = p->heard;
    if (letter == 'w')
        post(p, ring, p->pos + 1, 0, world_mark(p->id, 2) << 40);
    post(p, ring, p->pos, kind << WSH_RING_KIND_AT | (strchr("gG", letter) ? WSH_RING_ANSWER : 0) | p->id,
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

/* A fence orders what goes to one PE. */
static void begin_record(struct producer *p, char letter, unsigned pe)
{
    uint32_t behind = 0;

    for (unsigned i = 0; i < world.n_records; i++)
        behind |= world.record[i].pe == pe ? p->fenced & 1u << i : 0;
    p->id = world.n_records++;
    world_wrong_if(p->id >= RECORDS, "too many records");
    world.record[p->id % RECORDS] =
        (struct record){.letter = (uint8_t)letter, .pe = (uint8_t)pe, .behind = behind};
}

/* The ring of producer i for a PE: by both, or, as a mistake, by the producer alone. */
static unsigned ring_of(unsigned i, unsigned pe)
{
    unsigned each = RINGS / world.n_consumers;

    return world_mutant == BY_BLOCK ? i % RINGS : pe % world.n_consumers * each + i % each;
}

/* Waits for an answer, and gives its place back. */
static bool take(struct producer *p, struct wsh_ring *ring, char letter)
{
    struct wsh_ring_piece *answer = &ring->answer[p->pos % WSH_RING_PIECES];
    uint64_t tag = WSH_RING_TAG(p->pos), word = (uint32_t)answer->a | answer->b << 32;

    if (((answer->a ^ tag) | (answer->b ^ tag)) >> 32)
        return false;
    if (letter == 'G')
        word = *world_chunk(ring, p->pos);
    world_wrong_if(word != world_mark(p->id, 3), "a result is not there");
    store(p, &answer->a, 0);
    store(p, &answer->b, 0);
    next(p);
    return true;
}

/* Phase 0 reserves, 1 writes once there is room, 2 waits for an answer. */
static bool step_record(struct producer *p, unsigned mine, char letter, unsigned pe)
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
        begin_record(p, letter, pe);
        write_record(p, ring, letter);
        p->before |= 1u << p->id;
        p->phase = 2;
        if (!strchr("gG", letter))
            next(p);
        return true;
    }
    return take(p, ring, letter);
}

/* Phase r waits for ring r. */
static bool step_fence(struct producer *p)
{
    if (p->phase < RINGS && world_mutant != NO_FENCE_WAIT) {
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

/* What the producer is at: a quiet, or a flush. */
static char letter_of(const struct producer *p)
{
    return world_program[p - world.producer][p->at];
}

static uint64_t ended(const struct producer *p, unsigned r)
{
    return letter_of(p) == 'L' ? world.ring[r].read : world.ring[r].done;
}

static bool rings_are_done(const struct producer *p, unsigned first, unsigned end)
{
    for (unsigned r = first; r < end; r++)
        if (ended(p, r) < p->heads[r])
            return false;
    return true;
}

static bool all_done(const struct producer *p, unsigned mine)
{
    return world_mutant == OWN_RING_QUIET ? rings_are_done(p, mine, mine + 1) : rings_are_done(p, 0, RINGS);
}

static bool end_quiet(struct producer *p)
{
    for (unsigned i = 0; i < world.n_records; i++)
        if (letter_of(p) == 'L')
            world_wrong_if(p->quiet >> i & 1 && !world.record[i].read, "a flush is early");
        else
            world_wrong_if(p->quiet >> i & 1 && !world.record[i].complete, "a quiet is early");
    memset(p->asked, 0, sizeof p->asked);
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

static bool is_answered(const struct producer *p)
{
    for (unsigned r = 0; r < RINGS; r++)
        if (ended(p, r) < p->asked[r])
            return false;
    return true;
}

/* Phase 2 finds a consumer that has something to do and reserves, 3 writes; after the last one it is over. */
static bool request_consumer(struct producer *p, unsigned i)
{
    unsigned each = RINGS / world.n_consumers, mine = p->consumer * each + i % each;
    struct wsh_ring *ring = &world.ring[mine];

    if (p->phase == 2 && rings_are_done(p, p->consumer * each, (p->consumer + 1u) * each)) {
        p->consumer++;
    } else if (p->phase == 2) {
        p->pos = world.head[mine]++;
        p->phase = 3;
    } else {
        if (p->pos + 1 > ring->freed + WSH_RING_PIECES)
            return false;
        p->id = 0;
        write_record(p, ring, letter_of(p));
        p->asked[mine] = p->pos + 1;
        p->consumer++;
        p->phase = 2;
    }
    if (p->consumer == world.n_consumers) {
        p->consumer = 0;
        p->phase = 4;
    }
    return true;
}

/*
 * Phase 0 looks at the heads, 1 at what is done; 2 and 3 write a record to each consumer, 4 waits for them; 5 looks
 * again, 6 waits until all was taken.
 */
static bool step_quiet(struct producer *p, unsigned i)
{
    unsigned mine = ring_of(i, 0);

    switch (p->phase) {
    case 0:
        p->after = p->heard;
        memcpy(p->heads, world.head, sizeof p->heads);
        p->quiet = p->before;
        p->phase = 1;
        return true;
    case 1: p->phase = 2; return all_done(p, mine) ? end_quiet(p) : true;
    case 2:
    case 3: return request_consumer(p, i);
    case 4:
        if (!is_answered(p))
            return false;
        p->phase = 5;
        return true;
    case 5: p->phase = 6; return all_done(p, mine) || world_mutant == REQUESTS_ONCE ? end_quiet(p) : true;
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

bool world_step_producer(unsigned i)
{
    struct producer *p = &world.producer[i];
    char letter = world_program[i][p->at];
    unsigned pe = letter == 'P';

    switch (letter) {
    case '\0': return false;
    case 'F': return step_fence(p);
    case 'Q':
    case 'L': return step_quiet(p, i);
    case 'S':
    case 'W': return step_token(p, letter);
    default: return step_record(p, ring_of(i, pe), pe ? 'p' : letter, pe);
    }
}
