/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each PE counts its waits and knows for whom they were: PE 2, which comes late to every barrier, is the one that
 * the others have waited for longest. With SHMEM_STATS puts, gets and atomics are counted by PE too; without, none.
 * paths: local:4 tcp:4 mixed:4
 */
#include "test/common/mp.h"

#include <shmemx.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition) mp_check(condition, "%s does not hold", #condition)
#define ROUNDS 20
#define LATE 2

static long word;
static char bytes[64];

static void barriers(long ms)
{
    const struct timespec late = {0, ms * 1000000};

    for (int i = 0; i < ROUNDS; i++) {
        if (mp_me == LATE)
            nanosleep(&late, NULL);
        shmem_barrier_all();
    }
}

/* Has this PE waited longest for the late one meanwhile? */
static int names_late(const shmemx_stats_peer_t *before, const shmemx_stats_peer_t *now)
{
    uint64_t others = 0;

    for (int pe = 0; pe < mp_npes; pe++)
        others += pe == LATE ? 0 : now[pe].wait_ns - before[pe].wait_ns;
    return mp_me == LATE || now[LATE].wait_ns - before[LATE].wait_ns > others;
}

/* Where the machine has other work, PEs wait for those that have no core: 5 ms late are nothing then, 300 are. */
static void check_late(void)
{
    static const long late_ms[] = {5, 50, 300};
    static int named, by_all;

    for (int i = 0; i < 3 && !by_all; i++) {
        shmemx_stats_peer_t before[4], now[4];

        CHECK(shmemx_stats_peers(before, 4) == 0);
        barriers(late_ms[i]);
        CHECK(shmemx_stats_peers(now, 4) == 0);
        named = names_late(before, now);
        shmem_int_min_reduce(SHMEM_TEAM_WORLD, &by_all, &named, 1);
    }
    mp_check(by_all, "PE %d is not the one waited for", LATE);
}

static void check_waits(void)
{
    shmemx_stats_peer_t rows[4];
    shmemx_stats_t stats;
    int most = -1;

    CHECK(shmemx_stats(&stats, sizeof stats) == 0 && stats.size == sizeof stats);
    CHECK(shmemx_stats_peers(rows, 4) == 0);
    CHECK(stats.elapsed_ns > 0 && stats.collectives >= ROUNDS);
    CHECK(stats.heap_bytes > 0 && stats.heap_used_bytes <= stats.heap_bytes);
    CHECK(stats.longest_wait_ns <= stats.wait_ns && (stats.waits || mp_me == LATE));
    CHECK(!stats.waits == !stats.longest_wait_routine[0] && strcmp(stats.longest_wait_routine, "shmem_init"));
    for (int pe = 0; pe < mp_npes; pe++) {
        CHECK(rows[pe].pe == pe);
        if (rows[pe].wait_ns && (most < 0 || rows[pe].wait_ns > rows[most].wait_ns))
            most = pe;
    }
    mp_check(stats.most_waited_pe == most, "most waited for: PE %d, and by the rows PE %d (%llu and %llu ns)",
             stats.most_waited_pe, most,
             (unsigned long long)rows[stats.most_waited_pe < 0 ? 0 : stats.most_waited_pe].wait_ns,
             (unsigned long long)rows[most < 0 ? 0 : most].wait_ns);
}

/* On the world and on a team that goes, whose counts stay: counted once each, those without elements not. */
static void check_collectives(void)
{
    static long sum, one = 1, all[4 * 4];
    shmemx_stats_t before, now;
    shmemx_req_h request;
    shmem_team_t team;
    uint64_t steps;

    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, mp_npes, NULL, 0, &team) == 0);
    CHECK(shmemx_stats(&before, sizeof before) == 0);
    shmem_barrier_all();
    shmem_sync_all();
    shmem_team_sync(team);
    shmem_long_sum_reduce(team, &sum, &one, 1);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, all, &one, 1);
    shmem_long_broadcast(team, &sum, &one, 1, 0);
    shmem_long_sum_reduce(team, &sum, &one, 0);
    CHECK(shmemx_long_sum_reduce_nb(team, &sum, &one, 1, &request) == 0 && shmemx_req_wait(&request) == 0);
    CHECK(shmemx_stats(&now, sizeof now) == 0);
    steps = now.collectives;
    shmem_team_destroy(team);
    CHECK(shmemx_stats(&now, sizeof now) == 0);
    mp_check(now.collectives >= steps, "%llu steps of collectives, after %llu",
             (unsigned long long)now.collectives, (unsigned long long)steps);
    mp_check(now.collective_calls - before.collective_calls == 7, "%llu collectives, not 7",
             (unsigned long long)(now.collective_calls - before.collective_calls));
}

static void check_calls(const shmemx_stats_t *before, const shmemx_stats_peer_t *row_before, int next)
{
    const char *set = getenv("SHMEM_STATS");
    unsigned counts = set && !strcmp(set, "1");
    shmemx_stats_peer_t rows[4];
    shmemx_stats_t now;

    CHECK(shmemx_stats(&now, sizeof now) == 0 && shmemx_stats_peers(rows, 4) == 0);
    CHECK(now.puts - before->puts == 3 * counts);
    CHECK(now.put_bytes - before->put_bytes == (sizeof bytes + sizeof word + 8) * counts);
    CHECK(now.gets - before->gets == 2 * counts && now.get_bytes - before->get_bytes == 40 * counts);
    CHECK(now.atomics - before->atomics == counts);
    CHECK(rows[next].puts - row_before->puts == 3 * counts);
    CHECK(rows[next].same_host || now.network_operations > before->network_operations);
    CHECK(rows[next].same_host || rows[next].network_bytes > row_before->network_bytes);
    CHECK(rows[next].same_host || now.network_doorbells > before->network_doorbells);
    CHECK(now.network_doorbells <= now.network_operations);
}

int main(void)
{
    static uint64_t signal;
    char here[sizeof bytes] = "", least[8];
    shmemx_stats_peer_t rows[4];
    shmemx_stats_t before;
    int next;

    mp_begin();
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    if (shmem_team_n_pes(SHMEM_TEAM_SHARED) == mp_npes)
        check_late(); /* over a network a barrier has steps, and in each a PE waits for another one */
    else
        barriers(5);
    check_waits();
    check_collectives();
    CHECK(shmemx_stats(&before, sizeof before) == 0 && shmemx_stats_peers(rows, 4) == 0);
    shmem_putmem(bytes, here, sizeof here, next);
    shmem_long_p(&word, 1, next);
    shmem_putmem_signal(bytes, here, 8, &signal, 1, SHMEM_SIGNAL_SET, next);
    shmem_getmem(here, bytes, 32, next);
    shmem_long_g(&word, next);
    shmem_long_atomic_add(&word, 1, next);
    shmem_quiet();
    check_calls(&before, &rows[next], next);
    CHECK(shmemx_stats((shmemx_stats_t *)(void *)least, sizeof least) == 0); /* an older program's struct */
    return mp_end();
}
