/* SPDX-License-Identifier: BSD-3-Clause */
/* The emulator's random numbers: the same seed gives the same ones everywhere. Pure functions. */
#ifndef EMU_RANDOM_H
#define EMU_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct emu_random {
    uint64_t state;
};

static inline uint64_t emu_random_next(struct emu_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15ull;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Every process of a job draws from a sequence of its own. */
static inline void emu_random_init(struct emu_random *random, uint64_t seed, uint64_t stream)
{
    random->state = seed;
    random->state = emu_random_next(random) ^ (stream * 0xd1342543de82ef95ull);
}

/* 0 … n - 1; 0 if n is 0. */
static inline uint64_t emu_random_below(struct emu_random *random, uint64_t n)
{
    uint64_t draw = emu_random_next(random);

    return n ? draw % n : 0;
}

/* True `ppm` times in a million. Draws in every case, so that a changed share keeps the rest of the schedule. */
static inline bool emu_random_hits(struct emu_random *random, uint32_t ppm)
{
    return emu_random_below(random, 1000000) < ppm;
}

#endif
