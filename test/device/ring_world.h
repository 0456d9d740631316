/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world of three producers, two rings of four slots and one or two of the real consumers: small programs,
 * what is under way, every step that a producer, a consumer or memory may take next, and what must be true then. With
 * one consumer producers 0 and 2 share ring 0; with two, ring and consumer 0 serve PE 0, the others PE 1. Stores of a
 * producer arrive in any order, but for a system-scope fence, which is cumulative over what it has heard of by a token.
 *
 * A program is a text, a letter an operation:
 *   p  put, one slot    d  put, two slots, one piece    w  word, two pieces    F  fence    Q  quiet    L  flush
 *   g  get of a word, in the answer    G  get, in the payload
 *   P  the put to PE 1; all others are to PE 0
 *   S  gives the token   W  waits for it
 */
#ifndef WSH_TEST_RING_WORLD_H
#define WSH_TEST_RING_WORLD_H

#define WSH_ASIDE 1 /* nothing is refused here */
#include "runtime/gpu/proxy/ring.h"
#include "test/common/search.h"
#include "transports/transport.h"

enum { PRODUCERS = 3, RINGS = 2, CONSUMERS = 2, FLIGHTS = 24, RECORDS = 16 };

/* What is broken on purpose, to see that the search finds it. */
enum mutant { NONE, NO_FENCE_WAIT, REQUESTS_ONCE, OWN_RING_QUIET, NO_PAYLOAD_RELEASE, BY_BLOCK };

/* A store on its way to memory; it arrives after those in the mask. */
struct flight {
    uint64_t *at, value;
    uint32_t after;
};

struct record {
    struct wsh_done *done;
    uint64_t *result;       /* of a get */
    uint32_t behind;        /* records that a fence has put before it */
    uint8_t letter, pe, by; /* by: the consumer that took it */
    bool started, read, complete;
};

struct producer {
    uint8_t at, phase, id; /* slot in the program, in the operation; the present record */
    uint8_t consumer;      /* that a quiet or flush asks next */
    uint32_t heard, after; /* stores on their way that it made or heard of; those that its next ones follow */
    uint32_t before, fenced; /* records that came before; those behind a fence of it */
    uint32_t quiet;          /* records that the present quiet, or flush, must complete */
    uint64_t pos, heads[RINGS];
    uint64_t asked[RINGS]; /* what `done`, or `read`, will reach */
};

struct world {
    struct wsh_ring ring[RINGS];
    struct flight flight[FLIGHTS];
    struct record record[RECORDS];
    struct producer producer[PRODUCERS];
    uint64_t head[RINGS], epoch;
    uint32_t started[CONSUMERS], behind; /* records; those that their consumer has fenced */
    uint32_t token_heard, token_before, token_fenced;
    bool token, flushes;
    uint8_t n_records, n_consumers;
    /* [n_consumers], over consecutive rings */
    _Alignas(16) unsigned char consumer[CONSUMERS][sizeof(struct wsh_consumer) +
                                                   RINGS * sizeof(struct wsh_consumer_ring)];
};

extern struct world world;
extern const char *world_program[PRODUCERS];
extern enum mutant world_mutant;

/* What is wrong, or NULL. */
extern const char *world_wrong;

void world_wrong_if(bool is, const char *what);

/* What record `id` carries in its i-th chunk (2: as a value, 3: as a result), in both halves. */
static inline uint64_t world_mark(unsigned id, unsigned i)
{
    return (0x100 + id * 4 + (uint64_t)i) * 0x100000001u;
}

static inline uint64_t *world_chunk(struct wsh_ring *ring, uint64_t at)
{
    return (uint64_t *)(void *)(ring->payload + at % WSH_RING_PIECES * WSH_RING_CHUNK);
}

/* Producer i takes a step; false: it cannot. */
bool world_step_producer(unsigned i);

/* A world at its beginning, and the search through it. */
void world_begin(struct search *search, unsigned n_consumers, enum mutant broken,
                 const char *const program[PRODUCERS]);

#endif
