/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * High throughput: a call that a PE declines is over, also where its expanded rows would have had no room: the next
 * call, in halves, has its own rows.
 * paths: local:2,3
 * timeout: 30
 */
#include "test/common/mp.h"

#include <shmemx_ep.h>

#include <string.h>

enum { TOKENS = 6, HIDDEN = 128, ROWS = 64 };

static uint16_t x[TOKENS][HIDDEN], rows[ROWS][HIDDEN];
static int32_t topk[TOKENS], ends[1];

static void call(shmemx_ep_t ep, const shmemx_ep_dispatch_t *given, int halves)
{
    shmemx_ep_dispatch_t dispatch = *given;

    dispatch.halves = halves;
    mp_check(!shmemx_ep_dispatch(ep, &dispatch), "dispatch");
}

static int32_t rows_of(shmemx_ep_t ep)
{
    int32_t received = -9;

    mp_check(!shmemx_ep_counts(ep, 0, NULL, &received), "counts");
    return received;
}

int main(void)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;
    shmemx_ep_rows_expanded_t expanded = {.rows = rows, .ends = ends, .alignment = 1};
    shmemx_ep_dispatch_t dispatch = {
        .version = SHMEMX_EP_CALL_VERSION, .x = x, .topk = topk, .expanded = &expanded};
    shmemx_ep_t ep;

    mp_begin();
    config.mode = SHMEMX_EP_HIGH_THROUGHPUT;
    config.hidden = HIDDEN;
    config.experts = mp_npes;
    config.topk = 1;
    config.tokens = TOKENS;
    config.pe_capacity = mp_npes * TOKENS;
    if (shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &ep))
        return MP_FAILED;
    for (int t = 0; t < TOKENS; t++) {
        topk[t] = t % mp_npes;
        x[t][0] = (uint16_t)(10 * mp_me + t + 1);
    }
    for (int turn = 0; turn < 3; turn++) {
        dispatch.tokens = mp_me ? TOKENS : 0;
        dispatch.agreed = mp_me ? SHMEMX_EP_AGREES : SHMEMX_EP_DECLINES;
        dispatch.rows_most = expanded.room = turn == 1 ? mp_npes * TOKENS : 1;
        call(ep, &dispatch, SHMEMX_EP_BOTH);
        mp_check(rows_of(ep) == -1, "a declined call has rows");
        dispatch.tokens = TOKENS;
        dispatch.agreed = 0;
        dispatch.rows_most = expanded.room = mp_npes * TOKENS;
        memset(rows, 0, sizeof rows);
        call(ep, &dispatch, SHMEMX_EP_SEND);
        call(ep, &dispatch, SHMEMX_EP_RECEIVE);
        mp_check(rows_of(ep) == TOKENS, "the next call has other rows");
        for (int i = 0; i < TOKENS; i++) {
            int of = TOKENS / mp_npes, wanted = 10 * (i / of) + mp_me + i % of * mp_npes + 1;

            mp_check(rows[i][0] == wanted, "row %d is %d, not %d", i, rows[i][0], wanted);
        }
    }
    mp_check(!shmemx_ep_destroy(ep), "destroy");
    return mp_end();
}
