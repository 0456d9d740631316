/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The litmus test for each row of the specification's table of ordered operations (section 9.12): a
 * stream of rounds to the right neighbour, many under way at once, each "operation; fence or quiet; flag". Flags are
 * put, set by an atomic, by a signal and with a put with signal in turn. Who sees the flag of a round sees the
 * operations of it and of all before. With the argument --no-fence nothing is claimed: what was seen too late is
 * counted and printed.
 */
#ifndef WSH_TEST_LITMUS_H
#define WSH_TEST_LITMUS_H

#include "test/common/mp.h"

#define LITMUS_SLOTS 64 /* rounds that may be under way, each with memory of its own */
#define LITMUS_WORDS 16 /* of a slot */

struct litmus {
    const char *name;
    /*
     * Makes the slot at `dest` of `pe` tell `round` in each of its words; `source`, as large, is this round's own until
     * it is acknowledged: symmetric memory, LITMUS_SLOTS * LITMUS_WORDS words behind `dest`.
     */
    void (*send)(uint64_t *dest, uint64_t *source, uint64_t round, int pe);
    /* Whether the slot tells `round`; NULL: each word equals it. Called by the receiver, with its own slot. */
    bool (*arrived)(const uint64_t *slot, uint64_t round);
};

/* The whole test: its main. */
int litmus_main(int argc, char **argv, const struct litmus *litmus);

/* Each of n words = round. */
void litmus_fill(uint64_t *words, size_t n, uint64_t round);

#endif
