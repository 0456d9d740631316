/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With SHMEM_DEBUG=check every routine that takes a handle answers one that was never made with one line and the end of
 * the job, or with its error code: contexts, teams, counters, locks, instances of expert parallelism.
 *
 * paths: single
 */
#include "test/common/child.h"

#include <shmemx.h>
#include <shmemx_ep.h>
#include <stdlib.h>

#define CTX ((shmem_ctx_t)(uintptr_t)0x123456780)
#define TEAM ((shmem_team_t)(uintptr_t)0x123456780)
#define EP ((shmemx_ep_t)(uintptr_t)0x123456780)
#define COUNTER ((shmemx_counter_t)0x12345678)
#define NO_CTX "ctx 0x123456780 is no context"
#define NO_TEAM "team 0x123456780 is no team"
#define NO_COUNTER "counter is none that shmemx_counter_create has made"
#define NO_EP "ep 0x123456780 is none that shmemx_ep_create has made"

static long word[16], here[8];
static int pe;
static uint64_t bell;
static shmem_team_t team;
static shmem_ctx_t ctx;
static shmemx_ep_t ep;
static shmemx_counter_t counter = COUNTER;
static shmemx_put_t put = {word, here, 8, COUNTER, 0};
static shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

static bool destroyed_twice(void)
{
    config.hidden = 128;
    config.experts = config.topk = config.tokens = 1;
    if (shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &ep) || shmemx_ep_destroy(ep))
        return false;
    return shmemx_ep_destroy(ep);
}

/* clang-format off */
#define CALLS(X) \
    X(ctx_destroy, shmem_ctx_destroy(CTX), NO_CTX) \
    X(ctx_get_team, shmem_ctx_get_team(CTX, &team), NO_CTX) \
    X(ctx_put, shmem_ctx_long_put(CTX, word, here, 1, 0), NO_CTX) \
    X(ctx_put_nbi, shmem_ctx_putmem_nbi(CTX, word, here, 8, 0), NO_CTX) \
    X(ctx_put64, shmem_ctx_put64(CTX, word, here, 1, 0), NO_CTX) \
    X(ctx_p, shmem_ctx_long_p(CTX, word, 1, 0), NO_CTX) \
    X(ctx_iput, shmem_ctx_long_iput(CTX, word, here, 1, 1, 1, 0), NO_CTX) \
    X(ctx_ibput, shmem_ctx_long_ibput(CTX, word, here, 1, 1, 1, 1, 0), NO_CTX) \
    X(ctx_get, shmem_ctx_long_get(CTX, here, word, 1, 0), NO_CTX) \
    X(ctx_get_nbi, shmem_ctx_getmem_nbi(CTX, here, word, 8, 0), NO_CTX) \
    X(ctx_g, here[0] = shmem_ctx_long_g(CTX, word, 0), NO_CTX) \
    X(ctx_iget, shmem_ctx_long_iget(CTX, here, word, 1, 1, 1, 0), NO_CTX) \
    X(ctx_ibget, shmem_ctx_long_ibget(CTX, here, word, 1, 1, 1, 1, 0), NO_CTX) \
    X(ctx_atomic_set, shmem_ctx_long_atomic_set(CTX, word, 1, 0), NO_CTX) \
    X(ctx_atomic_fetch, here[0] = shmem_ctx_long_atomic_fetch(CTX, word, 0), NO_CTX) \
    X(ctx_atomic_inc, shmem_ctx_long_atomic_inc(CTX, word, 0), NO_CTX) \
    X(ctx_atomic_cswap, here[0] = shmem_ctx_long_atomic_compare_swap(CTX, word, 0, 1, 0), NO_CTX) \
    X(ctx_atomic_fetch_nbi, shmem_ctx_long_atomic_fetch_nbi(CTX, here, word, 0), NO_CTX) \
    X(ctx_put_signal, shmem_ctx_long_put_signal(CTX, word, here, 1, &bell, 1, SHMEM_SIGNAL_SET, 0), NO_CTX) \
    X(ctx_put_signal_nbi, shmem_ctx_putmem_signal_nbi(CTX, word, here, 8, &bell, 1, SHMEM_SIGNAL_SET, 0), NO_CTX) \
    X(ctx_signal_add, shmem_ctx_signal_add(CTX, &bell, 1, 0), NO_CTX) \
    X(ctx_signal_set, shmem_ctx_signal_set(CTX, &bell, 1, 0), NO_CTX) \
    X(ctx_quiet, shmem_ctx_quiet(CTX), NO_CTX) \
    X(ctx_fence, shmem_ctx_fence(CTX), NO_CTX) \
    X(ctx_pe_quiet, shmem_ctx_pe_quiet(CTX, &pe, 1), NO_CTX) \
    X(ctx_pe_quiet_none, shmem_ctx_pe_quiet(CTX, &pe, 0), NO_CTX) \
    X(session_start, shmem_ctx_session_start(CTX, 0, NULL, 0), NO_CTX) \
    X(session_stop, shmem_ctx_session_stop(CTX), NO_CTX) \
    X(batch_begin, shmemx_ctx_batch_begin(CTX), NO_CTX) \
    X(batch_end, shmemx_ctx_batch_end(CTX), NO_CTX) \
    X(ctx_flush, shmemx_ctx_flush(CTX), NO_CTX) \
    X(ctx_put_list, shmemx_ctx_putmem_list_nbi(CTX, &put, 1), NO_CTX) \
    X(ctx_put_list_none, shmemx_ctx_putmem_list_nbi(CTX, &put, 0), NO_CTX) \
    X(ctx_counted, shmemx_ctx_putmem_counted_nbi(CTX, word, here, 8, COUNTER, 0), NO_CTX) \
    X(team_my_pe, shmem_team_my_pe(TEAM), NO_TEAM) \
    X(team_n_pes, shmem_team_n_pes(TEAM), NO_TEAM) \
    X(team_config, shmem_team_get_config(TEAM, 0, NULL), NO_TEAM) \
    X(team_translate, shmem_team_translate_pe(TEAM, 0, SHMEM_TEAM_WORLD), NO_TEAM) \
    X(team_translate_to, shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, TEAM), NO_TEAM) \
    X(team_split, shmem_team_split_strided(TEAM, 0, 1, 1, NULL, 0, &team), NO_TEAM) \
    X(team_split_2d, shmem_team_split_2d(TEAM, 1, NULL, 0, &team, NULL, 0, &team), NO_TEAM) \
    X(team_create, shmemx_team_create(TEAM, &pe, 1, NULL, 0, &team), NO_TEAM) \
    X(team_number, shmemx_team_number(TEAM), NO_TEAM) \
    X(team_destroy, shmem_team_destroy(TEAM), NO_TEAM) \
    X(team_ptr, shmem_team_ptr(TEAM, word, 0), NO_TEAM) \
    X(team_ctx, shmem_team_create_ctx(TEAM, 0, &ctx), NO_TEAM) \
    X(team_sync, shmem_team_sync(TEAM), NO_TEAM) \
    X(team_barrier, shmemx_team_barrier(TEAM), NO_TEAM) \
    X(broadcast, shmem_long_broadcast(TEAM, word, word + 8, 1, 0), NO_TEAM) \
    X(collect, shmem_long_collect(TEAM, word, word + 8, 1), NO_TEAM) \
    X(alltoalls, shmem_long_alltoalls(TEAM, word, word + 8, 1, 1, 1), NO_TEAM) \
    X(sum_reduce, shmem_long_sum_reduce(TEAM, word, word + 8, 1), NO_TEAM) \
    X(sum_exscan, shmem_long_sum_exscan(TEAM, word, word + 8, 1), NO_TEAM) \
    X(counter_create, shmemx_counter_create(TEAM, 1, &counter), NO_TEAM) \
    X(ep_create, shmemx_ep_create(TEAM, &config, &ep), NO_TEAM) \
    X(counted, shmemx_putmem_counted_nbi(word, here, 8, COUNTER, 0), NO_COUNTER) \
    X(put_list, shmemx_putmem_list_nbi(&put, 1), NO_COUNTER) \
    X(counter_fetch, shmemx_counter_fetch(COUNTER), NO_COUNTER) \
    X(counter_wait, shmemx_counter_wait_until(COUNTER, 1), NO_COUNTER) \
    X(counter_timed, shmemx_counter_wait_until_timeout(COUNTER, 1, 1.), NO_COUNTER) \
    X(counter_destroy, shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not the n that one") \
    X(set_lock, shmem_set_lock(malloc(8)), "is not a symmetric address") \
    X(clear_lock, shmem_clear_lock(word), "does not hold the lock") \
    X(active_set, shmem_barrier(0, 0, 1, NULL), "the symmetric address is NULL")

#define REFUSED(X) \
    X(ep_dispatch, shmemx_ep_dispatch(EP, &(shmemx_ep_dispatch_t){0}), NO_EP) \
    X(ep_combine, shmemx_ep_combine(EP, &(shmemx_ep_combine_t){0}), NO_EP) \
    X(ep_buffer, !shmemx_ep_buffer(EP, 0), NO_EP) \
    X(ep_counts, shmemx_ep_counts(EP, 0, NULL, NULL), NO_EP) \
    X(ep_statistics, shmemx_ep_statistics(EP, &(shmemx_ep_statistics_t){0}), NO_EP) \
    X(ep_mask_update, shmemx_ep_mask_update(EP, 0, 0), NO_EP) \
    X(ep_mask_query, shmemx_ep_mask_query(EP, &(int32_t){0}), NO_EP) \
    X(ep_mask_clean, shmemx_ep_mask_clean(EP), NO_EP) \
    X(ep_destroy, shmemx_ep_destroy(EP), NO_EP) \
    X(ep_destroy_twice, destroyed_twice(), "or has been destroyed")

#define MAKE(NAME, CALL, LINE) \
    static bool NAME##_made_up(void) \
    { \
        CALL; \
        return false; \
    }
#define MAKE_REFUSED(NAME, CALL, LINE) \
    static bool NAME##_made_up(void) \
    { \
        return CALL; \
    }
CALLS(MAKE)
REFUSED(MAKE_REFUSED)
#define ROW(NAME, CALL, LINE) {#NAME, NAME##_made_up, LINE},

int main(void)
{
    static const struct child_call calls[] = {CALLS(ROW) REFUSED(ROW){0}};

    return child_calls(calls, CHILD_CHECKED) ? 1 : 0;
}
