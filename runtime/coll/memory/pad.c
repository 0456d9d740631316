/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays out the parts of a sync area (pad), each on its own cache lines. */
#include "runtime/coll/memory/pad.h"

#include "runtime/job/job.h"

#include "runtime/coll/algorithms/steps.h"

int wsh_pad_rounds(int n)
{
    int rounds = 0;

    while ((1 << rounds) < n)
        rounds++;
    return rounds;
}

/* Messages that a member gets in a sync of n by rounds, of whichever kind has more of them. */
static int messages_count(int n)
{
    int fans = 0, rounds = wsh_pad_rounds(n);

    for (long near = 1; near < n; near *= WSH_PAD_FAN)
        fans += (n - 1) / near < WSH_PAD_FAN - 1 ? (int)((n - 1) / near) : WSH_PAD_FAN - 1;
    return fans > rounds ? fans : rounds;
}

static size_t part_place(size_t *end, size_t len)
{
    size_t at = *end;

    *end = (at + len + WSH_PAD_LINE - 1) & ~(size_t)(WSH_PAD_LINE - 1);
    return at;
}

/*
 * Of recursive doubling; two more rounds for those beyond a power of two, which then has one round less. Fewer domains
 * may need more of them.
 */
static int rounds_count(int n_domains, bool exactly)
{
    bool power = exactly && !(n_domains & (n_domains - 1));

    return n_domains > 1 ? wsh_pad_rounds(n_domains) + (n_domains > 2 && !power) : 0;
}

struct wsh_pad wsh_pad_layout(int n_pes, int n_domains, bool apart)
{
    bool alone = apart && n_domains > 1; /* no other member maps this member's memory */
    size_t words = (size_t)n_pes * sizeof(uint64_t), end = 0;
    struct wsh_pad pad = {.sync_words = n_pes + messages_count(n_pes)};

    pad.n_rounds = rounds_count(n_domains, apart);
    pad.n_lines = alone ? 0 : n_pes < WSH_LINES_MAX ? n_pes : WSH_LINES_MAX;
    pad.n_shown = alone ? 0 : wsh_steps_words(n_pes);
    pad.sync = part_place(&end, 2 * (size_t)pad.sync_words * sizeof(uint64_t));
    pad.shown = part_place(&end, 2 * (size_t)pad.n_shown * WSH_PAD_APART);
    pad.blocks = part_place(&end, 2 * words);
    pad.ack = part_place(&end, 2 * sizeof(uint64_t));
    pad.core = pad.ack + sizeof(uint64_t);
    pad.sizes = part_place(&end, 2 * words);
    pad.slots = part_place(&end, WSH_SLOT_COUNT * WSH_PAD_LINE);
    pad.own = alone ? 0 : part_place(&end, 2 * WSH_CELL_LEN);
    pad.lines = part_place(&end, 2 * (size_t)pad.n_lines * WSH_PAD_LINE);
    pad.result = n_domains > 1 && !alone ? part_place(&end, 2 * WSH_CELL_LEN) : 0;
    pad.rounds = part_place(&end, 2 * (size_t)pad.n_rounds * WSH_ROUND_LEN);
    pad.len = end;
    return pad;
}

struct wsh_pad wsh_pad_of_job(const struct wsh_job *job, int n_pes)
{
    return wsh_pad_layout(n_pes, job->n_domains < n_pes ? job->n_domains : n_pes,
                          job->n_domains == job->n_pes);
}
