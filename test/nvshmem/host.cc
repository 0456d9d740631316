/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host code for NVSHMEM that g++ compiles: set-up, teams by number, puts, gets, atomics, signals and waits between
 * static data, and device memory where a GPU can be had; addresses of routines; sizes and values as NVSHMEM's.
 * paths: local:2,4 mixed:4 fakegpu:2,4 single
 */
#include <nvshmem.h>
#include <nvshmemx.h>
#include <nvshmem_host.h>

#include "check.h"

static int box[64];
static long total;
static uint64_t flag;

static void check_values(void)
{
    static_assert(NVSHMEM_SIGNAL_SET == 9 && NVSHMEM_SIGNAL_ADD == 10 && NVSHMEM_CMP_GE == 5, "numbers");
    static_assert(NVSHMEM_TEAM_WORLD == 0 && NVSHMEMX_TEAM_NODE == 2 && NVSHMEM_TEAM_INVALID == -1, "teams");
    static_assert(sizeof(nvshmemx_uniqueid_t) == 128 && sizeof(nvshmemx_init_attr_t) == 144, "sizes");
    nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    int major, minor;

    CHECK(attr.version == (2 << 16) + 144 && attr.args.version == (2 << 16) + 128);
    CHECK(config.version == (2 << 16) + 64 && config.num_contexts == -1);
    nvshmem_info_get_version(&major, &minor);
    CHECK(major == NVSHMEM_MAJOR_VERSION && minor == NVSHMEM_MINOR_VERSION);
    CHECK(!strcmp(nvshmemx_status_string(NVSHMEMX_ERROR_SYMMETRY), "NVSHMEMX_ERROR_SYMMETRY"));
}

static void check_moves(void)
{
    int me = nvshmem_my_pe(), n = nvshmem_n_pes(), right = (me + 1) % n, values[4] = {me, me + 1, me + 2, me + 3};
    void (*put)(int *, const int *, size_t, int) = nvshmem_int_put;

    put(box, values, 4, right);
    nvshmem_int_p(box + 4, 50 + me, right);
    nvshmem_fence();
    nvshmemx_signal_op(&flag, 3, NVSHMEM_SIGNAL_ADD, right);
    CHECK(nvshmem_signal_wait_until(&flag, NVSHMEM_CMP_GE, 3) == 3);
    CHECK(box[0] == (me + n - 1) % n && box[3] == box[0] + 3 && box[4] == 50 + box[0]);
    nvshmem_barrier_all();
    nvshmem_int_put_signal(box + 8, values, 2, &flag, 7, NVSHMEM_SIGNAL_SET, right);
    nvshmem_uint64_wait_until(&flag, NVSHMEM_CMP_EQ, 7);
    CHECK(box[9] == box[0] + 1);
    CHECK(nvshmem_int_g(box + 4, right) == 50 + me);
    CHECK(nvshmem_uint64_test(&flag, NVSHMEM_CMP_NE, 0));
    nvshmem_long_atomic_add(&total, me + 1, 0);
    nvshmem_quiet();
    nvshmem_barrier_all();
    CHECK(nvshmem_long_atomic_fetch(&total, 0) == (long)n * (n + 1) / 2);
    nvshmem_sync_all();
}

static void check_teams(void)
{
    int me = nvshmem_my_pe(), n = nvshmem_n_pes(), mine = 100 + me, got[64];
    nvshmem_team_t all, shifted;

    CHECK(nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) == me && nvshmem_team_n_pes(NVSHMEM_TEAM_INVALID) == -1);
    CHECK(nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE) >= nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED));
    CHECK(!nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &all) && all > 3);
    CHECK(nvshmem_team_my_pe(all) == n - 1 - me);
    CHECK(nvshmem_team_translate_pe(all, 0, NVSHMEM_TEAM_WORLD) == n - 1);
    box[32] = mine;
    nvshmem_int_fcollect(all, box + 33, box + 32, 1);
    memcpy(got, box + 33, sizeof(int) * (size_t)n);
    for (int i = 0; i < n; i++)
        CHECK(got[i] == 100 + n - 1 - i);
    nvshmem_int_broadcast(all, box + 32, box + 33, 1, 0);
    CHECK(!nvshmem_barrier(all) && !nvshmem_sync(all));
    CHECK(!nvshmem_team_split_strided(all, 0, 1, n > 1 ? n - 1 : 1, NULL, 0, &shifted));
    CHECK((shifted == NVSHMEM_TEAM_INVALID) == (n > 1 && me == 0));
    nvshmem_team_destroy(shifted);
    nvshmem_team_destroy(all);
}

/* Of all PEs, backwards, by an id that PE 0 makes. */
static void check_team_init(void)
{
    static uint64_t id;
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    nvshmem_team_t team;
    int me = nvshmem_my_pe(), n = nvshmem_n_pes();

    if (me == 0)
        CHECK(!nvshmemx_team_get_uniqueid(&id));
    nvshmem_uint64_broadcast(NVSHMEM_TEAM_WORLD, &id, &id, 1, 0);
    config.uniqueid = id;
    CHECK(!nvshmemx_team_init(&team, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, n, n - 1 - me));
    CHECK(nvshmem_team_my_pe(team) == n - 1 - me && nvshmem_team_n_pes(team) == n);
    CHECK(!nvshmem_barrier(team));
    nvshmem_team_destroy(team);
}

/* Device memory: all PEs have it, or none. */
static void check_memory(void)
{
    int me = nvshmem_my_pe(), n = nvshmem_n_pes(), left = (me + n - 1) % n, got[4], values[4] = {me, 1, 2, 3};
    int *words = (int *)nvshmem_calloc(16, sizeof *words);

    if (!words) {
        CHECK(!nvshmem_malloc(8));
        return;
    }
    nvshmem_int_put_nbi(words, values, 4, (me + 1) % n);
    nvshmem_barrier_all();
    nvshmem_int_get(got, words, 4, me);
    CHECK(got[0] == left && got[3] == 3);
    CHECK(nvshmem_ptr(words, me) == words);
    nvshmem_barrier_all();
    nvshmem_free(words);
}

/* Numbers of queues, with a GPU and without. */
static void check_queues(void)
{
    nvshmemx_qp_handle_t *queues, *more;

    CHECK(!nvshmemx_qp_create(2, &queues) && !nvshmemx_qp_create(1, &more));
    CHECK(queues[0] > NVSHMEMX_QP_DEFAULT && queues[1] == queues[0] + 1 && more[0] == queues[0] + 2);
    free(queues);
    free(more);
    CHECK(!shmemx_device_heap_base() == !shmemx_device_heap_peer_bases());
}

int main(void)
{
    int provided, level;

    CHECK(nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED);
    CHECK(!nvshmem_init_thread(NVSHMEM_THREAD_MULTIPLE, &provided));
    nvshmem_query_thread(&level);
    CHECK(level == provided && nvshmemx_init_status() == NVSHMEM_STATUS_IS_INITIALIZED);
    check_values();
    check_moves();
    check_teams();
    check_team_init();
    check_memory();
    check_queues();
    nvshmem_finalize();
    return 0;
}
