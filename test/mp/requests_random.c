/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random schedules of nonblocking collectives of all kinds on several teams, 1, 2, 8 and more than run at a time, among
 * blocking ones: each PE completes them in an order of its own, by wait, test, wait_all or test_any. Results are
 * right, no request is complete before all members have begun what needs them, and all end.
 * paths: local:1,2,3,8,40 tcp:4 sets:2 sockets:2 efa:3 mixed:2,6 mixedefa:2,4 split:2
 * long paths: tcp:2
 * timeout: 180
 */
#include "test/common/teams.h"

#include <shmemx.h>

#include <string.h>

#define ARENA ((size_t)8 << 20)
#define MOST 25                   /* requests of a schedule */
#define LONG_MAX ((size_t)200000) /* with all PEs: beyond what a progress thread begins */
#define SHORT_MAX ((size_t)200)
#define NUMBER ((size_t)8)

enum kind {
    SYNC,
    BROADCAST,
    FCOLLECT,
    COLLECT,
    ALLTOALL,
    ALLTOALLS,
    REDUCE,
    MAXIMUM,
    ALLTOALLV,
    PACKED,
    KINDS
};

struct op {
    enum kind kind;
    shmem_team_t team;
    int n, me, root;
    size_t len; /* a multiple of 4 */
    uint64_t step;
    char *dest, *src;
    size_t counts[64], offsets[64], dest_counts[64], dest_offsets[64], need;
};

static char *arena;
static size_t used;
static uint64_t step;
static uint64_t *begun; /* symmetric: the last step that this PE has begun */
static struct op ops[MOST];
static shmemx_req_h requests[MOST];
static int n_ops;
static long begun_nb, begun_blocking; /* here, so far */

static uint64_t seed(const struct op *op, int from, int to)
{
    return op->step * 131 + (uint64_t)teams_world(op->team, from) * 17 + (uint64_t)(to < 0 ? 0 : to + 1);
}

/* What member `from` has for member `to` in an alltoallv: nothing, little or more. */
static size_t count_of(const struct op *op, int from, int to)
{
    uint64_t x = seed(op, from, to) * UINT64_C(0x9e3779b97f4a7c15);

    x ^= x >> 29;
    return x % 4 == 0 ? 0 : x % 4 == 1 ? op->len : x / 4 % (op->len + 1);
}

static void fill_counts(struct op *op)
{
    size_t at = 0;

    for (int i = 0; i < op->n; i++) {
        op->counts[i] = count_of(op, op->me, i);
        op->offsets[i] = (size_t)i * op->len;
        mp_fill(op->src + op->offsets[i], op->counts[i], seed(op, op->me, i));
        op->dest_counts[i] = count_of(op, i, op->me);
        op->dest_offsets[i] = at;
        at += op->dest_counts[i] + (size_t)(i % 3);
    }
}

static void fill(struct op *op)
{
    uint32_t *words = (uint32_t *)op->src;

    switch (op->kind) {
    case ALLTOALL:
        for (int i = 0; i < op->n; i++)
            mp_fill(op->src + (size_t)i * op->len, op->len, seed(op, op->me, i));
        break;
    case ALLTOALLS: /* every other word of 4 bytes */
        for (size_t i = 0; i < op->len / 4 * (size_t)op->n; i++)
            words[2 * i] = (uint32_t)(seed(op, op->me, (int)(i / (op->len / 4))) + i % (op->len / 4));
        break;
    case REDUCE:
    case MAXIMUM:
        for (size_t i = 0; i < op->len / 4; i++)
            words[i] = (uint32_t)(seed(op, op->me, -1) * (i + 1));
        break;
    case ALLTOALLV:
    case PACKED: fill_counts(op); break;
    default: mp_fill(op->src, op->len, seed(op, op->me, -1));
    }
}

static size_t collect_len(const struct op *op, int member)
{
    return member % 3 == 0 ? op->len : member % 3 == 1 ? 0 : op->len / 2;
}

static void check_block(const struct op *op, const char *at, size_t len, int from, int to)
{
    size_t wrong = mp_wrong(at, len, seed(op, from, to));

    mp_check(!wrong, "step %lu, kind %d, %d members: %zu of %zu bytes from %d wrong", (unsigned long)op->step,
             op->kind, op->n, wrong, len, from);
}

static void check_words(const struct op *op)
{
    const uint32_t *words = (const uint32_t *)op->dest;
    size_t n = op->len / 4, wrong = 0;

    if (op->kind == ALLTOALLS) {
        for (size_t i = 0; i < n * (size_t)op->n; i++)
            wrong += words[2 * i] != (uint32_t)(seed(op, (int)(i / n), op->me) + i % n);
    } else {
        for (size_t i = 0; i < n; i += 1 + n / 50) {
            uint32_t want = 0;

            for (int from = 0; from < op->n; from++) {
                uint32_t theirs = (uint32_t)(seed(op, from, -1) * (i + 1));

                want = op->kind == REDUCE ? want + theirs : theirs > want ? theirs : want;
            }
            wrong += words[i] != want;
        }
    }
    mp_check(!wrong, "step %lu, kind %d, %d members, %zu words: %zu wrong", (unsigned long)op->step, op->kind,
             op->n, n, wrong);
}

static void check_parts(const struct op *op)
{
    const char *at = op->dest;

    for (int from = 0; from < op->n; from++) {
        size_t len = op->kind == COLLECT ? collect_len(op, from) : op->len;

        if (op->kind == ALLTOALLV || op->kind == PACKED) {
            len = count_of(op, from, op->me);
            at = op->dest + op->dest_offsets[from];
            mp_check(len == op->dest_counts[from], "step %lu: count", (unsigned long)op->step);
        }
        check_block(op, at, len, from, op->kind >= ALLTOALL ? op->me : -1);
        at += len;
    }
}

/* Somebody who has been waited for has begun the collective. */
static void check_early(const struct op *op)
{
    int pe = teams_world(op->team, (int)(op->step * 7919 % (uint64_t)op->n));
    uint64_t his;

    if (op->kind == BROADCAST || op->step % 4)
        return;
    his = shmem_uint64_g(begun, pe);
    mp_check(his >= op->step, "step %lu, kind %d is complete before PE %d, at %lu, has begun it",
             (unsigned long)op->step, op->kind, pe, (unsigned long)his);
}

static void check(const struct op *op)
{
    check_early(op);
    switch (op->kind) {
    case SYNC: break;
    case BROADCAST: check_block(op, op->dest, op->len, op->root, -1); break;
    case ALLTOALLS:
    case REDUCE:
    case MAXIMUM: check_words(op); break;
    default: check_parts(op);
    }
    memset(op->src, 0x44, op->len);
}

static int begin(struct op *op, shmemx_req_h *request)
{
    uint32_t *to = (uint32_t *)op->dest, *from = (uint32_t *)op->src;

    switch (op->kind) {
    case SYNC: return shmemx_sync_nb(op->team, request);
    case BROADCAST: return shmemx_broadcastmem_nb(op->team, op->dest, op->src, op->len, op->root, request);
    case FCOLLECT: return shmemx_fcollectmem_nb(op->team, op->dest, op->src, op->len, request);
    case COLLECT: return shmemx_collectmem_nb(op->team, op->dest, op->src, collect_len(op, op->me), request);
    case ALLTOALL: return shmemx_alltoallmem_nb(op->team, op->dest, op->src, op->len, request);
    case ALLTOALLS: return shmemx_uint32_alltoalls_nb(op->team, to, from, 2, 2, op->len / 4, request);
    case REDUCE: return shmemx_uint32_sum_reduce_nb(op->team, to, from, op->len / 4, request);
    case MAXIMUM: return shmemx_uint32_max_reduce_nb(op->team, from, from, op->len / 4, request);
    case ALLTOALLV:
        return shmemx_alltoallvmem_nb(op->team, op->dest, op->dest_counts, op->dest_offsets, op->src,
                                      op->counts, op->offsets, request);
    default:
        memset(op->dest_counts, 0x55, sizeof op->dest_counts);
        return shmemx_alltoallvmem_packed_nelems_nb(op->team, op->dest, op->dest_counts, op->dest_offsets,
                                                    op->len * (size_t)op->n + 8 * (size_t)op->n, 8, &op->need,
                                                    op->src, op->counts, op->offsets, request);
    }
}

static void run_blocking(struct op *op)
{
    switch (op->kind) {
    case SYNC: shmem_team_sync(op->team); break;
    case BROADCAST: shmem_broadcastmem(op->team, op->dest, op->src, op->len, op->root); break;
    case FCOLLECT: shmem_fcollectmem(op->team, op->dest, op->src, op->len); break;
    case COLLECT: shmem_collectmem(op->team, op->dest, op->src, collect_len(op, op->me)); break;
    case ALLTOALL: shmem_alltoallmem(op->team, op->dest, op->src, op->len); break;
    case ALLTOALLS:
        shmem_uint32_alltoalls(op->team, (uint32_t *)op->dest, (uint32_t *)op->src, 2, 2, op->len / 4);
        break;
    case REDUCE:
        shmem_uint32_sum_reduce(op->team, (uint32_t *)op->dest, (uint32_t *)op->src, op->len / 4);
        break;
    case MAXIMUM:
        shmem_uint32_max_reduce(op->team, (uint32_t *)op->src, (uint32_t *)op->src, op->len / 4);
        break;
    default:
        shmemx_alltoallvmem(op->team, op->dest, op->dest_counts, op->dest_offsets, op->src, op->counts,
                            op->offsets);
    }
}

static char *take(size_t len)
{
    char *at = arena + used;

    used += (len + 63) & ~(size_t)63;
    return at;
}

/* The same at all members: what is random comes from a state that all PEs share. */
static void one(const struct teams *teams, uint64_t *state, bool blocking)
{
    struct op *op = &ops[n_ops];
    size_t which = mp_random_below(state, (size_t)teams->n), all = (size_t)mp_npes;
    uint64_t late = mp_random(state), root = mp_random(state);
    const size_t lens[] = {NUMBER, NUMBER, SHORT_MAX, SHORT_MAX, SHORT_MAX, SHORT_MAX, LONG_MAX / all};

    op->kind = (enum kind)mp_random_below(state, KINDS);
    op->len = mp_random_below(state, lens[mp_random_below(state, sizeof lens / sizeof *lens)]) / 4 * 4 + 4;
    op->team = teams->team[which].handle;
    op->step = ++step;
    op->dest = take(2 * all * op->len + 16 * all);
    op->src = op->kind == MAXIMUM ? op->dest : take(2 * all * op->len);
    if (op->team == SHMEM_TEAM_INVALID)
        return;
    op->n = shmem_team_n_pes(op->team);
    op->me = shmem_team_my_pe(op->team);
    op->root = (int)(root % (uint64_t)op->n);
    if (late % 32 == 0 && (int)(late / 32 % (uint64_t)mp_npes) == mp_me)
        mp_sleep(0.0003);
    fill(op);
    *begun = step;
    if (blocking) {
        run_blocking(op);
        check(op);
        begun_blocking++;
    } else {
        mp_check(begin(op, &requests[n_ops]) == 0, "step %lu is not begun", (unsigned long)step);
        n_ops++;
        begun_nb++;
    }
}

static void complete(int i)
{
    mp_check(requests[i] == SHMEMX_REQ_INVALID, "the handle of a request that is complete is left");
    check(&ops[i]);
}

static void complete_one(int i, uint64_t *own)
{
    if (requests[i] == SHMEMX_REQ_INVALID)
        return;
    if (mp_random_below(own, 2))
        mp_check(shmemx_req_wait(&requests[i]) == 0, "wait");
    else
        while (shmemx_req_test(&requests[i]))
            ;
    complete(i);
}

static void complete_all(uint64_t *own)
{
    size_t index;

    switch (mp_random_below(own, 4)) {
    case 0:
        mp_check(shmemx_req_wait_all(requests, (size_t)n_ops) == 0, "wait_all");
        for (int i = 0; i < n_ops; i++)
            complete(i);
        break;
    case 1:
        for (;;) {
            if (shmemx_req_test_any(requests, (size_t)n_ops, &index))
                continue;
            if (index == SIZE_MAX)
                break;
            complete((int)index);
        }
        break;
    default:
        for (int i = 0; i < 2 * n_ops; i++)
            complete_one((int)mp_random_below(own, (size_t)n_ops), own);
        for (int i = n_ops; i--;)
            complete_one(i, own);
    }
    n_ops = 0;
}

static void schedule(const struct teams *teams, uint64_t *state, uint64_t *own)
{
    static const int most[] = {1, 2, 8, MOST};
    int n = most[mp_random_below(state, 4)];

    for (int i = 0; i < n; i++) {
        if (used + 8 * LONG_MAX + 32 * 64 * SHORT_MAX > ARENA) {
            complete_all(own);
            shmem_barrier_all();
            used = 0;
        }
        one(teams, state, mp_random_below(state, 5) == 0);
    }
    complete_all(own);
}

/* The root depends on nobody, and is soon ahead: its requests start as long as the slots are known to be free. */
static void many_broadcasts(void)
{
    uint64_t *to = (uint64_t *)arena, *from = to + 64;
    shmemx_req_h all[40];

    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 40; k++) {
            from[k] = (uint64_t)(i * 40 + k);
            shmemx_broadcast_nb(SHMEM_TEAM_WORLD, to + k, from + k, 1, 0, &all[k]);
        }
        if (i % 5 == 1 && mp_me == mp_npes - 1)
            mp_sleep(0.001);
        shmemx_req_wait_all(all, 40);
        for (int k = 0; k < 40; k++)
            mp_check(to[k] == (uint64_t)(i * 40 + k), "broadcast %d of round %d: %lu", k, i,
                     (unsigned long)to[k]);
        shmem_sync_all();
    }
}

int main(void)
{
    uint64_t state = mp_seed(), own;
    struct teams teams;
    long rounds;

    mp_begin();
    own = mp_seed() + (uint64_t)mp_me * 7919 + 1;
    arena = mp_alloc(ARENA);
    begun = mp_alloc(sizeof *begun);
    teams_open(&teams);
    many_broadcasts();
    rounds = mp_rounds(mp_npes > 16 || mp_path_is("sockets") ? 8
                       : mp_path_is("local")                 ? 200
                                                             : 30,
                       mp_npes > 16 || mp_path_is("sockets") ? 300 : 12000);
    for (long i = 0; i < rounds; i++)
        schedule(&teams, &state, &own);
    shmem_barrier_all();
    mp_note("%ld schedules of seed %lu: PE 0 took part in %ld requests and %ld blocking collectives", rounds,
            (unsigned long)mp_seed(), begun_nb, begun_blocking);
    teams_close(&teams);
    return mp_end();
}
