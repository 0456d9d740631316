/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * survivors SEED PHASE ROUNDS VICTIM:HOW:MS…: PEs VICTIM die by HOW (kill, segv) MS milliseconds after the start, the
 * others among random work of PHASE (rma, coll, alloc, lock, all), which ends ROUNDS rounds after the last death; HOW
 * with an f in front: in shmem_finalize. Survivors shrink the world, go on, and check data, results and allocations.
 */
#define _GNU_SOURCE
#include "test/launch/helper/by_uid.h"
#include "test/launch/helper/moves.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { N = 2048, FLIGHT = 8, BLOCKS = 32, MOVES = 200, STEPS = 4 };

static long src[N], dest[FLIGHT][N], locked, lock, best[2], mine[2], ended, rounds;
static char *heap_base;
static unsigned shared_seed, own_seed;
static int me, n, deaths, late_deaths;
static shmem_team_t team = SHMEM_TEAM_WORLD;

/* What this PE has allocated; the same at all survivors, but for what rounds touch that not all have ended. */
static struct block {
    char *at;
    size_t len;
    char fill;
} blocks[BLOCKS];

static struct block *block_of(long round)
{
    return &blocks[round * 7 % BLOCKS];
}

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void say(const char *what, int pe)
{
    char line[80];
    int len = snprintf(line, sizeof line, "%s %d %.6f\n", what, pe, now());

    if (write(1, line, (size_t)len) < 0)
        _exit(98);
}

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "PE %d, round %ld: %s\n", me, rounds, what);
    exit(9);
}

static void heard(int pe, void *arg)
{
    (void)arg;
    say("heard", pe);
}

static struct victim {
    char how[8];
    int pe, ms;
} victim;

static void *die(void *arg)
{
    const struct rlimit none = {0, 0};
    const struct timespec ts = {victim.ms / 1000, victim.ms % 1000 * 1000000L};

    (void)arg;
    setrlimit(RLIMIT_CORE, &none);
    while (victim.how[0] == 'f' && __atomic_load_n(&ended, __ATOMIC_ACQUIRE) < n - deaths)
        usleep(1000);
    nanosleep(&ts, NULL);
    say("dies", me);
    if (strstr(victim.how, "segv")) {
        signal(SIGSEGV, SIG_DFL);
        kill(getpid(), SIGSEGV);
    }
    kill(getpid(), SIGKILL);
    return NULL;
}

static void death_begin(void)
{
    pthread_t thread;

    check(!pthread_create(&thread, NULL, die, NULL), "no thread");
}

static void victims_read(int argc, char **argv)
{
    for (int i = 4; i < argc; i++) {
        struct victim one = {"", 0, 0};

        check(sscanf(argv[i], "%d:%7[a-z]:%d", &one.pe, one.how, &one.ms) == 3, "a victim");
        if (one.how[0] == 'f')
            late_deaths++;
        else
            deaths++;
        if (one.pe == me)
            victim = one;
    }
}

static int random_of(unsigned *seed, int most)
{
    return rand_r(seed) % most;
}

/* Puts, gets and atomics to random PEs, the dead ones too. */
static int rma(void)
{
    for (int i = 0; i < MOVES; i++) {
        const int pe = random_of(&own_seed, n), kind = random_of(&own_seed, MOVE_KINDS);

        move(pe, kind, (size_t)random_of(&own_seed, MOVE_N));
    }
    shmem_quiet();
    return 0;
}

static long sum_of_members(void)
{
    long sum = 0;

    for (int i = 0; i < shmem_team_n_pes(team); i++)
        sum += shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) + 1;
    return sum;
}

/* What returns 0 is complete. */
static int coll(void)
{
    const int kind = random_of(&shared_seed, 6);
    static size_t counts[MOVE_PES], offsets[MOVE_PES];
    shmemx_req_h requests[FLIGHT];
    int rc, members = shmem_team_n_pes(team);

    for (int i = 0; i < N; i++)
        src[i] = me + 1;
    switch (kind) {
    case 0: return shmemx_team_barrier(team);
    case 1:
    case 2:
        rc = shmem_long_sum_reduce(team, dest[0], src, kind == 1 ? 1 : N);
        check(rc || dest[0][kind == 1 ? 0 : N - 1] == sum_of_members(), "a sum that returned 0");
        return rc;
    case 3:
        rc = shmem_long_alltoall(team, dest[0], src, N / MOVE_PES);
        for (int i = 0; i < members && !rc; i++)
            check(dest[0][i * (N / MOVE_PES)] == shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) + 1,
                  "an alltoall");
        return rc;
    case 4:
        for (int i = 0; i < members; i++)
            counts[i] = N / MOVE_PES, offsets[i] = (size_t)i * (N / MOVE_PES);
        rc = shmemx_long_alltoallv(team, dest[0], counts, offsets, src, counts, offsets);
        for (int i = 0; i < members && !rc; i++)
            check(dest[0][i * (N / MOVE_PES)] == shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) + 1,
                  "an alltoallv");
        return rc;
    default:
        for (int i = 0; i < FLIGHT; i++)
            shmemx_long_sum_reduce_nb(team, dest[i], src, i % 2 ? 4 : N, &requests[i]);
        rc = shmemx_req_wait_all(requests, FLIGHT);
        check(rc || dest[1][3] == sum_of_members(), "a nonblocking sum that returned 0");
        return rc;
    }
}

static void block_check(const struct block *block)
{
    for (size_t i = 0; i < block->len; i++)
        check(block->at[i] == block->fill, "memory of an allocation has changed");
}

static void block_take(struct block *block, char *at, size_t len)
{
    *block = (struct block){at, at ? len : 0, (char)(rounds + me)};
    if (at)
        memset(at, block->fill, len);
}

static int alloc(void)
{
    struct block *block = block_of(rounds);
    const size_t len = (size_t)1 + (size_t)random_of(&shared_seed, 3000);
    const int kind = random_of(&shared_seed, 3);
    char *at;

    if (block->at)
        block_check(block);
    if (block->at && kind) {
        shmem_free(block->at);
        block->at = NULL;
        return shmemx_team_broken(team);
    }
    if (block->at) {
        at = shmem_realloc(block->at, len);
        if (at)
            block_take(block, at, len);
        return !at;
    }
    at = kind == 1 ? shmem_calloc(1, len) : kind ? shmem_align(256, len) : shmem_malloc(len);
    block_take(block, at, len);
    return !at;
}

/* Only who has it counts. */
static int locks(void)
{
    long seen;

    if (shmemx_set_lock_status(&lock))
        return 1;
    seen = shmem_long_g(&locked, 0);
    shmem_long_p(&locked, seen + 1, 0);
    shmem_quiet();
    shmem_clear_lock(&lock);
    return shmemx_team_broken(team);
}

static int step(const char *phase)
{
    static int (*const all[STEPS])(void) = {rma, coll, alloc, locks};
    const int kind = !strcmp(phase, "rma")     ? 0
                     : !strcmp(phase, "coll")  ? 1
                     : !strcmp(phase, "alloc") ? 2
                     : !strcmp(phase, "lock")  ? 3
                                               : random_of(&shared_seed, STEPS);
    int rc = all[kind]();

    mine[0] = (long)shmemx_failure_generation();
    return rc ? rc : shmem_long_min_reduce(team, best, mine, 1);
}

static int of_all(long value, long *least, long *most)
{
    int rc;

    mine[0] = value;
    mine[1] = -value;
    rc = shmem_long_min_reduce(team, best, mine, 2);
    *least = best[0];
    *most = -best[1];
    return rc;
}

/* After the world's shrink: all have the same blocks, and go on with the same round. 0: done. */
static int recover(void)
{
    long least, most, offset;
    char *at;

    if (team != SHMEM_TEAM_WORLD)
        shmem_team_destroy(team);
    check(!shmemx_team_shrink(SHMEM_TEAM_WORLD, &team), "no team of survivors");
    say("shrunk", me);
    at = shmem_malloc(640);
    offset = at ? at - heap_base : -1;
    if (of_all(offset, &least, &most))
        return 1;
    check(at && least == most, "offsets of an allocation differ");
    shmem_free(at);
    if (of_all(rounds, &least, &most))
        return 1;
    for (long round = least; round <= most; round++)
        block_of(round)->at = NULL; /* not all may have it */
    rounds = most + 1;
    return shmemx_team_broken(team);
}

/* Each tells each other what it has done there, and checks what the others have done here. */
static int data_check(void)
{
    for (int pe = 0; pe < n; pe++)
        moves_tell(pe);
    shmem_quiet();
    if (shmemx_team_barrier(team))
        return 1;
    for (int i = 0; i < shmem_team_n_pes(team); i++) {
        int pe = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);

        check(!moves_differ(pe), moves_differ(pe));
    }
    return 0;
}

static void work(const char *phase, long more, unsigned seed)
{
    int rc = 0;

    for (long left = more; left > 0 || rc;) {
        shared_seed = seed + 7919 * (unsigned)rounds;
        if (rc) {
            rc = recover();
            continue;
        }
        rc = step(phase);
        if (!rc && best[0] >= deaths && !--left)
            rc = data_check();
        if (rc)
            left = more;
        else
            rounds++;
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 99;
    start();
    me = shmem_my_pe();
    n = shmem_n_pes();
    victim.pe = -1;
    victims_read(argc, argv);
    own_seed = (unsigned)atoi(argv[1]) + 31 * (unsigned)me;
    heap_base = shmem_malloc(64);
    check(!shmemx_on_failure(heard, NULL), "no function");
    shmem_barrier_all();
    if (victim.pe == me && victim.how[0] != 'f')
        death_begin();
    work(argv[2], atol(argv[3]), (unsigned)atoi(argv[1]));
    for (int pe = 0; pe < n; pe++)
        shmem_long_atomic_add(&ended, 1, pe);
    shmem_quiet();
    if (victim.pe == me)
        death_begin();
    say("ends", me);
    shmem_finalize();
    return victim.pe == me ? (pause(), 0) : 0;
}
