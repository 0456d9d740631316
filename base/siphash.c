/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4 as Aumasson and Bernstein define it in "SipHash: a fast short-input PRF" (2012). */
#include "base/siphash.h"

/* Words are little-endian, whatever the machine's order. */
static uint64_t word_load(const unsigned char *bytes, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static uint64_t word_rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void state_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = word_rotate(v[1], 13) ^ v[0];
    v[3] = word_rotate(v[3], 16) ^ v[2];
    v[0] = word_rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = word_rotate(v[1], 17) ^ v[2];
    v[3] = word_rotate(v[3], 21) ^ v[0];
    v[2] = word_rotate(v[2], 32);
}

static void state_add(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    state_round(v);
    state_round(v);
    v[0] ^= word;
}

uint64_t wsh_siphash(const unsigned char key[WSH_SIPHASH_KEY], const void *bytes, size_t len)
{
    const uint64_t k0 = word_load(key, 8), k1 = word_load(key + 8, 8);
    const unsigned char *at = bytes, *tail = at + (len & ~(size_t)7);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                     k1 ^ 0x7465646279746573};

    for (; at < tail; at += 8)
        state_add(v, word_load(at, 8));
    state_add(v, (uint64_t)len << 56 | word_load(tail, len & 7));
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        state_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
