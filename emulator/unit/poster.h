/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts into a queue pair's rings and reads a completion queue's memory, as a kernel would: it knows the addresses that
 * the efadv calls give, and how an entry is laid out.
 */
#ifndef EMU_TEST_POSTER_H
#define EMU_TEST_POSTER_H

#include "emulator/queues/layout.h"
#include "emulator/unit/verbs.h"

struct poster_ring {
    uint64_t *words;
    uint32_t entries, entry_words, posted;
    uint32_t *doorbell;
};

struct poster {
    struct poster_ring sq, rq;
    uint64_t *cq_words;
    uint32_t cq_entries, consumed;
    uint32_t *cq_doorbell;
    bool silent; /* does not acknowledge what it has consumed */
    struct end *end;
};

void poster_open(struct poster *poster, struct end *end);
/* A write of `len` bytes from the start of one buffer to that of the other. */
struct emu_request poster_write_of(const struct poster *poster, const struct end *to, uint64_t id,
                                   uint32_t len);
/* Stores an entry, without a doorbell. Without the word `missing`, if that is none of -1. */
void poster_store(struct poster *poster, const struct emu_request *request);
void poster_store_words(struct poster *poster, const uint64_t *words, int missing);
void poster_ring(struct poster *poster);
void poster_receive(struct poster *poster, uint16_t id, uint32_t len);
/* How many requests the device has taken out of the ring. */
uint64_t poster_served(const struct poster *poster);
/* The next completion: false if there is none for `ms`. */
bool poster_poll(struct poster *poster, unsigned ms, struct emu_report *report);

/* Two ends, whose queues are in memory. */
struct pair {
    struct end end[2];
    struct poster poster[2];
};

void pair_open(struct pair *pair, const struct wish *wish);
/* The next completion of that end: there is one within 20 s, or the test ends. */
struct emu_report pair_next(struct pair *pair, int side);
/* From the first end to the second. */
struct emu_request pair_write_of(struct pair *pair, uint64_t id, uint32_t len);
void pair_post(struct pair *pair, const struct emu_request *request);

#endif
