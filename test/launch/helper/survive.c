/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * survive HOW WHO ROUTINE: PE WHO dies by HOW (kill, segv, exit3; late: oshrun is stopped meanwhile, for 4 s; early: by
 * SIGKILL before the first) in the middle of many collectives ROUTINE (barrier, sum, sums, broadcast, alltoall, split;
 * nb1, nb8: so many nonblocking in flight; alltoallv, also nonblocking; timed: waits with a limit; init: teams by an
 * id, that PEs have and PE WHO does not come with); the others check what they are told and go on.
 * ROUTINE again: as sum, and the others call shmem_init once more.
 * ROUTINE rma: it dies among puts, gets, atomics and fences to random PEs; what went between the others is exact.
 */
#define _GNU_SOURCE
#include "test/launch/helper/by_uid.h"
#include "test/launch/helper/moves.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { N = 4096, DIES_AT = 100, CALLS = 1000000, MOVES = 20000 };
static long src[N], dest[N];
static long told[MOVE_PES]; /* by source */
static long never;

enum { FLIGHT = 8 };
static long nb_dest[FLIGHT][N];

/* So many in flight, of several kinds; their status is that of all. */
static int call_nb(shmem_team_t team, size_t n)
{
    shmemx_req_h requests[FLIGHT];

    for (size_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            shmemx_long_sum_reduce_nb(team, nb_dest[i], src, i < 4 ? 4 : N, &requests[i]);
        else if (i % 4 == 1)
            shmemx_long_broadcast_nb(team, nb_dest[i], src, N / 8, 0, &requests[i]);
        else if (i % 4 == 2)
            shmemx_long_alltoall_nb(team, nb_dest[i], src, 64, &requests[i]);
        else
            shmemx_sync_nb(team, &requests[i]);
    }
    return shmemx_req_wait_all(requests, n);
}

/* Short blocks, which go eagerly, and long ones; every second time it is tested and not waited for. */
static int call_alltoallv(shmem_team_t team)
{
    static size_t counts[64], offsets[64], turn;
    const int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);
    shmemx_req_h request;
    int rc = 1;

    for (int i = 0; i < n; i++) {
        counts[i] = (i + me) % 2 ? 4 : (size_t)(N / n);
        offsets[i] = (size_t)i * (size_t)(N / n);
    }
    if (turn++ % 2)
        return shmemx_long_alltoallv(team, dest, counts, offsets, src, counts, offsets);
    shmemx_long_alltoallv_nb(team, dest, counts, offsets, src, counts, offsets, &request);
    while (rc > 0)
        rc = shmemx_req_test(&request);
    return rc;
}

static const char *way;
static int victim, heard, heard_of; /* by shmemx_on_failure */

static void hear(int pe, void *arg)
{
    heard_of = pe;
    __atomic_fetch_add((int *)arg, 1, __ATOMIC_RELEASE);
}

static void die(const char *how);

static long turn; /* of who makes an id */

/* A team of all members by an id, which each of them makes in turn. */
static int call_init(shmem_team_t team)
{
    static uint64_t id;
    const int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team), root = (int)(turn % n);
    shmem_team_t fresh;

    if (me == root)
        shmemx_team_get_id(&id);
    if (shmem_uint64_broadcast(team, &id, &id, 1, root))
        return 1;
    if (shmem_my_pe() == victim && turn == DIES_AT)
        die(way);
    turn++;
    if (shmemx_team_init(id, n, me, NULL, 0, &fresh))
        return 1;
    shmem_team_destroy(fresh);
    return 0;
}

static int call(const char *routine, shmem_team_t team)
{
    if (!strcmp(routine, "init"))
        return call_init(team);
    if (!strcmp(routine, "timed"))
        return shmemx_wait_until_timeout(&never, SHMEM_CMP_EQ, 1, shmem_my_pe() == victim ? 1e-3 : 60.) == 2;
    if (!strncmp(routine, "nb", 2))
        return call_nb(team, (size_t)atoi(routine + 2));
    if (!strcmp(routine, "alltoallv"))
        return call_alltoallv(team);
    if (!strcmp(routine, "barrier"))
        return shmemx_team_barrier(team);
    if (!strcmp(routine, "sum") || !strcmp(routine, "again"))
        return shmem_long_sum_reduce(team, dest, src, 1);
    if (!strcmp(routine, "sums"))
        return shmem_long_sum_reduce(team, dest, src, N);
    if (!strcmp(routine, "broadcast"))
        return shmem_long_broadcast(team, dest, src, N / 8, 0);
    if (!strcmp(routine, "alltoall"))
        return shmem_long_alltoall(team, dest, src, 64);
    return shmem_team_sync(team);
}

/* A process without the PE's connections lets the launcher go on. */
static void launcher_stop(void)
{
    const pid_t launcher = getppid();

    if (!fork()) {
        close_range(3, ~0u, 0);
        sleep(4);
        kill(launcher, SIGCONT);
        _exit(0);
    }
    kill(launcher, SIGSTOP);
}

static void die(const char *how)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    if (!strcmp(how, "late"))
        launcher_stop();
    if (!strcmp(how, "kill") || !strcmp(how, "late"))
        raise(SIGKILL);
    if (!strcmp(how, "segv")) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    _exit(3);
}

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "PE %d: %s\n", shmem_my_pe(), what);
    exit(9);
}

/* Each tells each other what it has done there, and checks what the others have done here. */
static void moves_check(int who)
{
    const int me = shmem_my_pe(), n = shmem_n_pes();

    shmem_quiet();
    for (int pe = 0; pe < n; pe++) {
        moves_tell(pe);
        shmem_fence();
        shmem_long_p(&told[me], 1, pe);
    }
    for (int pe = 0; pe < n; pe++) {
        if (pe == who)
            continue;
        shmem_long_wait_until(&told[pe], SHMEM_CMP_EQ, 1);
        check(!moves_differ(pe), moves_differ(pe));
    }
}

static void moves(const char *how, int who)
{
    const int me = shmem_my_pe(), n = shmem_n_pes();

    check(n <= MOVE_PES, "too many PEs");
    srand((unsigned)me + 1);
    for (int i = 0; i < MOVES || !shmemx_failure_generation(); i++) {
        if (me == who && i == MOVES / 4)
            die(how);
        move(rand() % n, rand() % MOVE_KINDS, (size_t)rand());
    }
    moves_check(who);
    for (int i = 0; i < 1000; i++)
        move(who, i % MOVE_KINDS, 8);
    shmem_quiet();
    check(shmem_ptr(added, who) || shmem_long_atomic_fetch(&added[me], who) == 0,
          "what is fetched from a PE that has failed is not 0");
}

/* A member that has failed is told from a `dest` that is too small. */
static void packed_check(shmem_team_t team)
{
    static size_t counts[64], offsets[64], to_counts[64], to_offsets[64];
    size_t need = SIZE_MAX;

    check(shmemx_long_alltoallv_packed_nelems(team, dest, to_counts, to_offsets, N, 1, &need, src, counts,
                                              offsets) != 0,
          "an alltoallv returns 0");
    check(need <= N, "an alltoallv says that dest is too small");
}

/* All survivors, the same way: of `who` alone. */
static void check_news(int who, shmem_team_t team)
{
    int list[2] = {-1, -1};

    check(shmemx_pe_failed(who) == 1 && !shmemx_pe_failed(shmem_my_pe()), "shmemx_pe_failed");
    check(shmemx_failed_pes(list, 2) == 1 && list[0] == who && list[1] == -1, "shmemx_failed_pes");
    check(shmemx_failed_pes(NULL, 0) == 1, "shmemx_failed_pes without a list");
    check(shmemx_failure_generation() == 1, "shmemx_failure_generation");
    check(shmemx_team_broken(team) == 1, "shmemx_team_broken");
}

/* The function has been called, once, within 2 s. Of a PE that had failed before it was given, it need not be. */
static void check_heard(int who, bool early)
{
    for (int ms = 0; ms < 2000 && !__atomic_load_n(&heard, __ATOMIC_ACQUIRE); ms++)
        usleep(1000);
    check((heard == 1 && heard_of == who) || (early && !heard), "the function of shmemx_on_failure");
}

/* A team, and then the world, without the one that has failed: everything works again. */
static void go_on(int who, shmem_team_t team)
{
    static long lock, sum;
    shmem_team_t fresh, all;
    const int n = shmem_n_pes();
    long *at;

    check(!shmem_malloc(64), "an allocation while the world is broken");
    if (team != SHMEM_TEAM_WORLD) {
        check(!shmemx_team_shrink(team, &fresh), "no team of survivors");
        check(shmem_team_n_pes(fresh) == n - 1 && !shmemx_team_broken(fresh), "the team of survivors");
        check(!shmem_long_sum_reduce(fresh, dest, src, 1), "a sum of survivors");
        shmem_team_destroy(fresh);
        shmem_team_destroy(team);
    }
    check(!shmemx_team_shrink(SHMEM_TEAM_WORLD, &all), "no world of survivors");
    check(shmem_team_n_pes(all) == n - 1 && shmem_team_translate_pe(SHMEM_TEAM_WORLD, who, all) == -1,
          "the survivors");
    src[0] = 1;
    check(!shmem_long_sum_reduce(all, &sum, src, 1) && sum == n - 1, "the sum of survivors");
    turn = 0; /* the call that failed may have done so before its turn was over here, and after it there */
    check(!call_init(all), "no team of survivors by an id");
    at = shmem_calloc(10, sizeof *at);
    check(at != NULL, "no memory after the shrink");
    check(!shmemx_set_lock_status(&lock), "a lock after the shrink");
    shmem_long_atomic_inc(at, shmem_team_translate_pe(all, 0, SHMEM_TEAM_WORLD));
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    check(shmem_team_my_pe(all) || *at == n - 1, "atomics after the shrink");
    shmem_free(at);
    check(shmemx_team_broken(SHMEM_TEAM_WORLD) == 1 && shmemx_team_broken(all) == 0, "who is broken");
}

int main(int argc, char **argv)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int rc = 0, who, me, n;
    bool early;

    if (argc < 4)
        return 99;
    early = !strcmp(argv[1], "early");
    start();
    me = shmem_my_pe();
    n = shmem_n_pes();
    who = atoi(argv[2]) < 0 ? n + atoi(argv[2]) : atoi(argv[2]);
    if (!strcmp(argv[3], "split"))
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team);
    check(early || (!shmemx_failure_generation() && !shmemx_team_broken(team) && !shmemx_failed_pes(NULL, 0)),
          "nobody has failed yet");
    victim = who;
    way = argv[1];
    check(!shmemx_on_failure(hear, &heard), "no function");
    if (!strcmp(argv[3], "rma"))
        moves(argv[1], who);
    for (int i = 0; i < CALLS && !rc; i++) {
        if (me == who && i == (early ? 0 : DIES_AT) && strcmp(argv[3], "init"))
            die(early ? "kill" : argv[1]);
        rc = call(argv[3], team);
    }
    check(rc, "a collective without a member returns 0");
    check_news(who, team);
    check_heard(who, early);
    for (int i = 0; i < 100 && strcmp(argv[3], "timed"); i++)
        check(call(argv[3], team) != 0, "a later one returns 0");
    check(shmem_long_broadcast(team, dest, src, 1, who ? 0 : 1) != 0,
          "a broadcast whose root lives returns 0");
    packed_check(team);
    shmem_barrier_all(); /* returns */
    go_on(who, team);
    printf("PE %d went on\n", me);
    shmem_finalize();
    if (!strcmp(argv[3], "again"))
        shmem_init();
    return 0;
}
