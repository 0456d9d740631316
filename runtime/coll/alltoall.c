/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the exchange of one block with every member: each goes with a signal, and all signals are awaited. */
#include "runtime/coll/coll.h"

#include "runtime/coll/state.h"
#include "runtime/job.h"
#include "runtime/order.h"
#include "runtime/signal.h"
#include "runtime/wait.h"

#include <stdio.h>
#include <string.h>

struct exchange {
    struct wsh_team *team;
    uint64_t *flags; /* [n_pes] of this epoch's parity */
    uint64_t epoch;
    int at; /* members before it have been heard from */
};

static bool heard_from(const struct exchange *exchange, int pe)
{
    /* Acquire: partner of the release in the member's put_signal. */
    return pe == exchange->team->my_pe ||
           __atomic_load_n(&exchange->flags[pe], __ATOMIC_ACQUIRE) == exchange->epoch;
}

static int try_hear_all(void *arg)
{
    struct exchange *exchange = arg;

    while (exchange->at < exchange->team->n_pes && heard_from(exchange, exchange->at))
        exchange->at++;
    return exchange->at < exchange->team->n_pes ? -EAGAIN : 0;
}

static void describe(void *arg, char *text, size_t size)
{
    const struct exchange *exchange = arg;
    size_t used = (size_t)snprintf(text, size, "PE");

    for (int pe = exchange->at; pe < exchange->team->n_pes && used < size; pe++)
        if (!heard_from(exchange, pe))
            used += (size_t)snprintf(text + used, size - used, " %d", exchange->team->members[pe]);
}

/* Starting behind oneself, so that no member is everybody's first target. */
static int send_blocks(struct exchange *exchange, char *dest, const char *src, size_t len)
{
    struct wsh_team *team = exchange->team;
    const struct wsh_signal signal = {&exchange->flags[team->my_pe], exchange->epoch, WSH_AMO_SET};
    int rc = 0;

    for (int k = 1; k < team->n_pes && !rc; k++) {
        int pe = team->my_pe + k < team->n_pes ? team->my_pe + k : team->my_pe + k - team->n_pes;

        rc = wsh_put_signal_nbi(&team->coll->ctx, dest + (size_t)team->my_pe * len, src + (size_t)pe * len,
                                len, &signal, pe);
    }
    return rc;
}

int wsh_alltoall(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    static const struct wsh_wait_why why = {"shmem_alltoall", describe};
    struct wsh_coll *coll = team->coll;
    struct exchange exchange = {.team = team, .epoch = ++coll->alltoall_epoch};
    size_t mine = (size_t)team->my_pe * len;
    int rc;

    exchange.flags = coll->alltoall_flags + (exchange.epoch & 1) * (size_t)team->n_pes;
    rc = send_blocks(&exchange, dest, src, len);
    if (rc)
        return rc;
    memcpy((char *)dest + mine, (const char *)src + mine, len);
    rc = wsh_wait(team->job, &why, try_hear_all, &exchange);
    return rc ? rc : wsh_quiet(&coll->ctx); /* the source may be reused */
}
