/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows when a peer counts as dead although the provider reports no error: providers over sockets try for ever to
 * connect again to a process that is gone.
 */
#include "transports/efa/efa.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define EFA_LOOK_S 1 /* seconds of silence after which a peer that owes answers is sent something */
#define EFA_GRACE_S \
    2                /* seconds that a launcher has to end the job, and name the PE that died, before we do */
#define EFA_LOST_S 5 /* seconds without a connection after which a peer that once answered is given up */

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/*
 * The provider takes nothing for a peer to which nothing is under way, and which has been connected before: there
 * is no connection any more. A peer that merely stands still keeps its connection, and its buffers fill up.
 */
int wsh_efa_no_room(struct wsh_efa_tp *tp, int pe)
{
    struct wsh_efa_peer *peer = &tp->peers[pe];

    if (peer->posted || !peer->heard || !tp->by_sockets)
        return -EAGAIN;
    if (!peer->lost_since)
        peer->lost_since = now();
    if (now() - peer->lost_since < EFA_LOST_S)
        return -EAGAIN;
    return wsh_efa_fail(
        tp, -ECONNRESET,
        "no connection to PE %d over %s for %d s: it has ended, or its host cannot be reached", pe,
        tp->rail.name, EFA_LOST_S);
}

void wsh_efa_lose(struct wsh_efa_tp *tp, const char *fmt, ...)
{
    va_list args;

    if (tp->lost_since)
        return;
    va_start(args, fmt);
    vsnprintf(tp->lost_text, sizeof tp->lost_text, fmt, args);
    va_end(args);
    tp->lost_since = now();
}

int wsh_efa_check_lost(struct wsh_efa_tp *tp)
{
    return now() - tp->lost_since < EFA_GRACE_S ? 0 : wsh_efa_fail(tp, -ECONNRESET, "%s", tp->lost_text);
}

int wsh_efa_look_after(struct wsh_efa_tp *tp)
{
    double time = now();
    int rc = 0;

    if (time < tp->next_look)
        return 0;
    tp->next_look = time + EFA_LOOK_S;
    for (int pe = 0; pe < tp->n_pes && !rc; pe++) {
        struct wsh_efa_peer *peer = &tp->peers[pe];
        bool silent = (peer->link.msgs || peer->link.fetches) && peer->told == peer->seen_told;

        peer->seen_told = peer->told;
        if (silent)
            rc = wsh_efa_msg_probe(tp, pe);
        if (rc == -EAGAIN)
            rc = 0;
    }
    return rc;
}
