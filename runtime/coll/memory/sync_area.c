/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays out the parts of a sync area, each on its own cache lines. */
#include "runtime/coll/memory/sync_area.h"

#include "runtime/job/job.h"

#include "runtime/coll/algorithms/steps.h"

#define EAGER_MEMBERS 64 /* members up to which there are eager buffers for blocks of an alltoallv */
/*
 * Bytes of the eager buffers for blocks of other hosts, all together. To copy so much takes about as long as what it
 * saves: half a round trip, and two messages a pair. Two PEs have buffers of 128 KiB.
 */
#define FAR_EAGER ((size_t)256 << 10)
#define NEAR_EAGER \
    512 /* bytes of one in the same memory: a longer block's offset is known before it is copied twice */

int wsh_sync_area_rounds(int n)
{
    int rounds = 0;

    while ((1 << rounds) < n)
        rounds++;
    return rounds;
}

/* Messages that a member gets in a sync of n by rounds, of whichever kind has more of them. */
static int messages_count(int n)
{
    int fans = 0, rounds = wsh_sync_area_rounds(n);

    for (long step = 1; step < n; step *= WSH_SYNC_AREA_FAN)
        fans += (n - 1) / step < WSH_SYNC_AREA_FAN - 1 ? (int)((n - 1) / step) : WSH_SYNC_AREA_FAN - 1;
    return fans > rounds ? fans : rounds;
}

static size_t part_add(size_t *end, size_t len)
{
    size_t at = *end;

    *end = (at + len + WSH_SYNC_AREA_LINE - 1) & ~(size_t)(WSH_SYNC_AREA_LINE - 1);
    return at;
}

/*
 * Of recursive doubling; two more rounds for those beyond a power of two, which then has one round less. Fewer domains
 * may need more of them.
 */
static int rounds_count(int n_domains, bool exactly)
{
    bool power = exactly && !(n_domains & (n_domains - 1));

    return n_domains > 1 ? wsh_sync_area_rounds(n_domains) + (n_domains > 2 && !power) : 0;
}

/*
 * Short blocks of an alltoallv come with their length, in eager buffers of so many bytes; large teams have no room for
 * that. It is the last part.
 */
static void exchange_lay_out(struct wsh_sync_area *area, int n_pes, size_t eager)
{
    size_t n = (size_t)n_pes, words = 2 * sizeof(uint64_t), most = n < EAGER_MEMBERS ? n : EAGER_MEMBERS;
    size_t len = most * (words + eager);

    area->exchange_eager = n > EAGER_MEMBERS ? 0 : eager;
    area->exchange_near = area->exchange_eager < NEAR_EAGER ? area->exchange_eager : NEAR_EAGER;
    if (n > EAGER_MEMBERS && n * words > len)
        len = n * words;
    area->exchange_len = (len + WSH_SYNC_AREA_LINE - 1) & ~(size_t)(WSH_SYNC_AREA_LINE - 1);
    area->len = area->exchange + 2 * area->exchange_len;
}

void wsh_sync_area_widen(struct wsh_sync_area *area, int n_pes, bool far)
{
    size_t eager = NEAR_EAGER;

    if (far && n_pes <= EAGER_MEMBERS)
        eager = FAR_EAGER / (size_t)n_pes & ~(size_t)(WSH_SYNC_AREA_LINE - 1);
    exchange_lay_out(area, n_pes, eager);
}

/*
 * As the others, none of a team takes more than that of a larger one. A line for each round of doubling, and one where
 * members beyond a power of two have theirs.
 */
static void requests_lay_out(struct wsh_sync_area *area, int n_pes, size_t *end)
{
    size_t members = (size_t)(WSH_REQ_WORDS_MAX > n_pes ? n_pes : WSH_REQ_WORDS_MAX);

    (void)part_add(&area->request_cells, WSH_REQ_SLOTS * (WSH_REQ_CELL + sizeof(uint64_t)));
    area->cells = part_add(end, members * area->request_cells);
    area->request_len = (size_t)(1 + wsh_sync_area_rounds(n_pes)) * WSH_SYNC_AREA_LINE;
    area->requests = part_add(end, WSH_REQ_SLOTS * area->request_len);
    area->exchange = *end;
    exchange_lay_out(area, n_pes, WSH_SYNC_AREA_LINE);
}

struct wsh_sync_area wsh_sync_area_layout(int n_pes, int n_domains, bool apart)
{
    bool alone = apart && n_domains > 1; /* no other member maps this member's memory */
    size_t words = (size_t)n_pes * sizeof(uint64_t), end = 0;
    struct wsh_sync_area area = {.sync_words = n_pes + messages_count(n_pes)};

    area.n_rounds = rounds_count(n_domains, apart);
    area.n_lines = alone ? 0 : n_pes < WSH_LINES_MAX ? n_pes : WSH_LINES_MAX;
    area.n_shown = alone ? 0 : wsh_steps_words(n_pes);
    area.sync = part_add(&end, 2 * (size_t)area.sync_words * sizeof(uint64_t));
    area.shown = part_add(&end, 2 * (size_t)area.n_shown * WSH_SYNC_AREA_APART);
    area.blocks = part_add(&end, 2 * words);
    area.ack = part_add(&end, 2 * sizeof(uint64_t));
    area.core = area.ack + sizeof(uint64_t);
    area.sizes = part_add(&end, 2 * words);
    area.slots = part_add(&end, WSH_SLOT_COUNT * WSH_SYNC_AREA_LINE);
    area.own = alone ? 0 : part_add(&end, 2 * WSH_LL_LEN);
    area.lines = part_add(&end, 2 * (size_t)area.n_lines * WSH_SYNC_AREA_LINE);
    area.result = n_domains > 1 && !alone ? part_add(&end, 2 * WSH_LL_LEN) : 0;
    area.rounds = part_add(&end, 2 * (size_t)area.n_rounds * WSH_ROUND_LEN);
    requests_lay_out(&area, n_pes, &end);
    return area;
}

struct wsh_sync_area wsh_sync_area_of_job(const struct wsh_job *job, int n_pes)
{
    return wsh_sync_area_layout(n_pes, job->n_domains < n_pes ? job->n_domains : n_pes,
                                job->n_domains == job->n_pes);
}
