/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how the parts of a pad follow each other, each on cache lines of its own. */
#include "runtime/coll/pad.h"

int wsh_pad_rounds(int n)
{
    int rounds = 0;

    while ((1 << rounds) < n)
        rounds++;
    return rounds;
}

static size_t take(size_t *end, size_t len)
{
    size_t at = *end;

    *end = (at + len + WSH_PAD_LINE - 1) & ~(size_t)(WSH_PAD_LINE - 1);
    return at;
}

struct wsh_pad wsh_pad_layout(int n_pes, int n_domains)
{
    size_t words = (size_t)n_pes * sizeof(uint64_t), end = 0;
    struct wsh_pad pad = {.meet_words = n_pes + wsh_pad_rounds(n_pes)};

    /* Recursive doubling; two more rounds for those beyond a power of two, which then has one round less. */
    pad.n_rounds = n_domains > 1 ? wsh_pad_rounds(n_domains) + (n_domains > 2) : 0;
    pad.meet = take(&end, 2 * (size_t)pad.meet_words * sizeof(uint64_t));
    pad.hand = take(&end, 2 * words);
    pad.ack = take(&end, words);
    pad.sizes = take(&end, 2 * words);
    pad.ring = take(&end, WSH_RING_SLOTS * WSH_PAD_LINE);
    pad.own = take(&end, 2 * WSH_CELL_LEN);
    pad.result = n_domains > 1 ? take(&end, 2 * WSH_CELL_LEN) : 0;
    pad.rounds = take(&end, 2 * (size_t)pad.n_rounds * WSH_CELL_LEN);
    pad.len = end;
    return pad;
}
