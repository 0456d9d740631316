/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoallv in both forms, of bytes and of longs, blocking and not, against a reference: random counts, none, one PE
 * that gets everything, all to oneself, long blocks; sources in symmetric and in other memory; gaps between blocks are
 * left alone. Where dest is too small at a PE, nothing is written there and it alone is told, with true counts.
 * paths: local:1,2,3,8 tcp:4 sockets:2 efa:3 mixed:2,6 mixedefa:2,4 split:2 single
 * long paths: tcp:2
 * timeout: 180
 */
#include "test/common/teams.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

#define PES 64
#define BLOCK_MAX ((size_t)20000)
#define LONG_BLOCK ((size_t)80000) /* with few PEs: more than cells take */
#define GAP 0x33

static char *dest, *symmetric, *private;
static size_t block_max, room; /* bytes; of dest */
static uint64_t call;
static long shapes[8], small; /* calls in which this PE took part, and those whose dest was too small here */

/* One call at this PE, in elements of `width` bytes. */
struct exchange {
    shmem_team_t team;
    int n, me, shape, hot;
    bool packed, typed, nb;
    size_t width, most, align, dest_max, need;
    size_t counts[PES], offsets[PES], dest_counts[PES], dest_offsets[PES];
    const char *source;
    int rc;
};

static uint64_t mix(uint64_t x)
{
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 31;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 29;
}

static uint64_t seed(int from, int to)
{
    return call * 4099 + (uint64_t)from * 64 + (uint64_t)to;
}

/* The reference: what member `from` has for member `to`. */
static size_t count_of(const struct exchange *ex, int from, int to)
{
    uint64_t x = mix(seed(from, to));

    switch (ex->shape) {
    case 0: return 0;
    case 1: return to == ex->hot ? ex->most : 0;
    case 2: return to == from ? ex->most : 0;
    case 3: return ex->most; /* as an alltoall */
    default: return x % 3 == 0 ? 0 : x / 3 % (ex->most + 1);
    }
}

static void prepare(struct exchange *ex, uint64_t *own)
{
    char *source = mp_random_below(own, 2) ? symmetric : private;
    size_t at = 0, to = 0;

    ex->source = source;
    for (int i = 0; i < ex->n; i++) {
        size_t gap = mp_random_below(own, 3);

        ex->counts[i] = count_of(ex, ex->me, i);
        ex->offsets[i] = at + gap;
        mp_fill(source + ex->offsets[i] * ex->width, ex->counts[i] * ex->width, seed(ex->me, i));
        at = ex->offsets[i] + ex->counts[i];
    }
    for (int i = 0; i < ex->n; i++) {
        int from = (i * 3 + 1) % ex->n == i ? i : ex->n - 1 - i; /* not in order of the members */

        ex->dest_counts[from] = count_of(ex, from, ex->me);
        ex->dest_offsets[from] = to + mp_random_below(own, 2);
        to = ex->dest_offsets[from] + ex->dest_counts[from];
    }
}

/* Where the second form puts blocks. */
static size_t pack(const struct exchange *ex, size_t *offsets)
{
    size_t end = 0;

    for (int i = 0; i < ex->n; i++) {
        while (ex->align > 1 && end % ex->align)
            end++;
        offsets[i] = end;
        end += count_of(ex, i, ex->me);
    }
    return end;
}

static void ask_packed(struct exchange *ex, uint64_t *own)
{
    size_t offsets[PES], need = pack(ex, offsets);

    ex->dest_max = need + mp_random_below(own, 5);
    if (need && mp_random_below(own, 4) == 0)
        ex->dest_max = mp_random_below(own, need);
    memset(ex->dest_counts, 0x77, sizeof ex->dest_counts);
    memset(ex->dest_offsets, 0x77, sizeof ex->dest_offsets);
}

/* By wait, or by tests, which say of a dest that is too small what is negative. */
static int complete(shmemx_req_h *request)
{
    int rc;

    if (call % 3)
        return shmemx_req_wait(request);
    do
        rc = shmemx_req_test(request);
    while (rc > 0);
    return rc;
}

static void run(struct exchange *ex, shmemx_req_h *request)
{
    long *to = (long *)(void *)dest;
    const long *from = (const long *)(const void *)ex->source;

    *request = SHMEMX_REQ_INVALID;
    if (ex->packed && ex->typed && ex->nb)
        ex->rc = shmemx_long_alltoallv_packed_nelems_nb(ex->team, to, ex->dest_counts, ex->dest_offsets,
                                                        ex->dest_max, ex->align, &ex->need, from, ex->counts,
                                                        ex->offsets, request);
    else if (ex->packed && ex->typed)
        ex->rc =
            shmemx_long_alltoallv_packed_nelems(ex->team, to, ex->dest_counts, ex->dest_offsets, ex->dest_max,
                                                ex->align, &ex->need, from, ex->counts, ex->offsets);
    else if (ex->packed)
        ex->rc =
            shmemx_alltoallvmem_packed_nelems(ex->team, dest, ex->dest_counts, ex->dest_offsets, ex->dest_max,
                                              ex->align, &ex->need, ex->source, ex->counts, ex->offsets);
    else if (ex->typed)
        ex->rc = shmemx_long_alltoallv(ex->team, to, ex->dest_counts, ex->dest_offsets, from, ex->counts,
                                       ex->offsets);
    else if (ex->nb)
        ex->rc = shmemx_alltoallvmem_nb(ex->team, dest, ex->dest_counts, ex->dest_offsets, ex->source,
                                        ex->counts, ex->offsets, request);
    else
        ex->rc = shmemx_alltoallvmem(ex->team, dest, ex->dest_counts, ex->dest_offsets, ex->source,
                                     ex->counts, ex->offsets);
    if (ex->nb && !ex->rc)
        ex->rc = complete(request);
    mp_check(*request == SHMEMX_REQ_INVALID, "call %lu: a request is left", (unsigned long)call);
    shapes[ex->shape]++;
    small += ex->rc != 0;
}

/* Every byte of dest: those of blocks, and that the others are as before. */
static void check_bytes(const struct exchange *ex, bool written)
{
    static bool taken[PES * BLOCK_MAX * 2];
    size_t len = room < sizeof taken ? room : sizeof taken, changed = 0;

    memset(taken, 0, len);
    for (int i = 0; i < ex->n && written; i++) {
        size_t bytes = ex->dest_counts[i] * ex->width, at = ex->dest_offsets[i] * ex->width;
        size_t wrong = mp_wrong(dest + at, bytes, seed(i, ex->me));

        mp_check(!wrong, "call %lu: %zu of %zu bytes of member %d wrong", (unsigned long)call, wrong, bytes,
                 i);
        memset(taken + at, 1, bytes);
    }
    for (size_t i = 0; i < len; i++)
        changed += !taken[i] && dest[i] != GAP;
    mp_check(!changed, "call %lu: %zu bytes beside the blocks are changed", (unsigned long)call, changed);
}

static void check(const struct exchange *ex)
{
    size_t offsets[PES], need = pack(ex, offsets);

    for (int i = 0; i < ex->n && ex->packed; i++)
        mp_check(ex->dest_counts[i] == count_of(ex, i, ex->me) && ex->dest_offsets[i] == offsets[i],
                 "call %lu: count %zu or offset %zu of member %d", (unsigned long)call, ex->dest_counts[i],
                 ex->dest_offsets[i], i);
    mp_check(!ex->packed || ex->need == need, "call %lu: need %zu, not %zu", (unsigned long)call, ex->need,
             need);
    mp_check((ex->rc != 0) == (ex->packed && need > ex->dest_max), "call %lu: result %d", (unsigned long)call,
             ex->rc);
    check_bytes(ex, !ex->rc);
}

static void one(const struct teams *teams, uint64_t *state, uint64_t *own)
{
    struct exchange ex = {.team = teams->team[mp_random_below(state, (size_t)teams->n)].handle};
    uint64_t how = mp_random(state), hot = mp_random(state);
    shmemx_req_h request;

    call++;
    ex.shape = (int)mp_random_below(state, 8);
    ex.most = mp_random_below(state, mp_random_below(state, 4) ? 400 : block_max / 8);
    ex.packed = how & 1;
    ex.typed = how & 2;
    ex.align = how / 4 % 4 * 3;
    ex.width = ex.typed ? sizeof(long) : 1;
    ex.nb = mp_random_below(own, 2) && ex.packed == ex.typed;
    memset(dest, GAP, room);
    shmem_sync_all();
    if (ex.team == SHMEM_TEAM_INVALID)
        return;
    ex.n = shmem_team_n_pes(ex.team);
    ex.me = shmem_team_my_pe(ex.team);
    ex.hot = (int)(hot % (uint64_t)ex.n);
    prepare(&ex, own);
    if (ex.packed)
        ask_packed(&ex, own);
    run(&ex, &request);
    check(&ex);
}

/* Places that no size_t holds fit nowhere. */
static void check_align(void)
{
    size_t counts[PES], offsets[PES], dest_counts[PES], dest_offsets[PES], need = 0;
    int rc;

    for (int i = 0; i < mp_npes; i++) {
        counts[i] = 8;
        offsets[i] = 8 * (size_t)i;
    }
    memset(dest, GAP, room);
    shmem_sync_all();
    rc = shmemx_alltoallvmem_packed_nelems(SHMEM_TEAM_WORLD, dest, dest_counts, dest_offsets, room, SIZE_MAX,
                                           &need, private, counts, offsets);
    mp_check((rc != 0) == (mp_npes > 1), "blocks SIZE_MAX bytes apart: result %d", rc);
    mp_check(need == (mp_npes > 1 ? SIZE_MAX : 8), "blocks SIZE_MAX bytes apart: need %zu", need);
    for (size_t i = mp_npes > 1 ? 0 : 8; i < room; i++)
        mp_check(dest[i] == GAP, "blocks SIZE_MAX bytes apart: byte %zu is written", i);
}

int main(void)
{
    uint64_t state = mp_seed(), own;
    struct teams teams;

    mp_begin();
    own = mp_seed() + (uint64_t)mp_me * 7919 + 1;
    block_max = mp_npes > 4 ? BLOCK_MAX : LONG_BLOCK;
    room = (size_t)mp_npes * (block_max + 64);
    dest = mp_alloc(room);
    symmetric = mp_alloc(room);
    private = malloc(room);
    check_align();
    teams_open(&teams);
    for (long i = 0; i < mp_rounds(mp_path_is("sockets") ? 10 : mp_path_is("local") ? 300 : 60, 10000); i++)
        one(&teams, &state, &own);
    mp_note("%lu calls; of those of PE 0 none had data in %ld, one PE all of it in %ld, each its own in %ld, "
            "and dest "
            "was too small in %ld",
            (unsigned long)call, shapes[0], shapes[1], shapes[2], small);
    teams_close(&teams);
    free(private);
    return mp_end();
}
