/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows a world of three producers, two rings of four places and the real consumer: small programs, what is under
 * way, every step that a producer, the consumer or memory may take next, and what must be true then. Producers 0
 * and 2 share ring 0. Stores of a producer arrive in any order, but for a system-scope fence, which is cumulative
 * over what the producer has heard of by a token.
 *
 * A program is a text, a letter an operation:
 *   p  put, one place    d  put, two places, one piece    w  word, two pieces    g  get    F  fence    Q  quiet
 *   S  gives the token   W  waits for it
 */
#ifndef WSH_TEST_RING_WORLD_H
#define WSH_TEST_RING_WORLD_H

#include "test/common/search.h"
#include "transports/transport.h"

enum { PRODUCERS = 3, RINGS = 2, FLIGHTS = 24, RECORDS = 16 };

/* What is broken on purpose, to see that the search finds it. */
enum mutant { NONE, NO_FENCE_WAIT, ASKS_ONCE, OWN_RING_QUIET, NO_PAYLOAD_RELEASE };

/* A store on its way to memory; it arrives after those in the mask. */
struct flight {
    uint64_t *at, value;
    uint32_t after;
};

struct record {
    struct wsh_done *done;
    uint64_t *result; /* of a get */
    uint32_t behind;  /* records that a fence has put before it */
    uint8_t letter;
    bool started, complete;
};

struct producer {
    uint8_t at, phase, id; /* place in the program, in the operation; the present record */
    uint32_t heard, after; /* stores on their way that it made or heard of; those that its next ones follow */
    uint32_t before, fenced; /* records that came before; those behind a fence of it */
    uint32_t quiet;          /* records that the present quiet must complete */
    uint64_t pos, heads[RINGS];
};

/* What is wrong, or NULL. */
extern const char *world_wrong;

/* A world at its beginning, and the search through it. */
void world_begin(struct search *search, enum mutant broken, const char *const program[PRODUCERS]);

#endif
