/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds peers that are gone although no operation fails: providers over sockets try for ever to connect again to a
 * process that is gone, and report errors of what they send for themselves as events.
 */
#include "transports/efa/set/alive.h"

#include "base/log.h"
#include "transports/efa/set/endpoints.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/progress.h"
#include "transports/efa/wire/rails.h"
#include "transports/efa/ops/tally.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EFA_LOOK_S 1 /* seconds of silence after which a peer that owes answers is sent something */
#define EFA_GRACE_S \
    2 /* seconds that a launcher has to end the job, and name the PE that died, before we do */
/*
 * Codes from this one on are no statuses of the device: the efa provider could not send a packet of its own. One that
 * serves somebody's read or write is missed there for ever, though nothing is awaited here; a greeting goes again.
 */
#define EFA_OWN_ERRORS 4096
#define EFA_OWN_GREETING 4113
#define EFA_LOST_S 5 /* seconds without a connection after which a peer that once answered is given up */

double wsh_efa_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/*
 * The provider takes nothing for a peer to which nothing is under way, and which has been connected before: there
 * is no connection any more. A peer that merely stands still keeps its connection, and its buffers fill up.
 */
int wsh_efa_no_room(struct wsh_efa_eps *eps, int pe)
{
    struct wsh_efa_peer *peer = &eps->peers[pe];

    if (peer->posted || !peer->heard || !eps->by_sockets)
        return -EAGAIN;
    if (!peer->lost_since)
        peer->lost_since = wsh_efa_now();
    if (wsh_efa_now() - peer->lost_since < EFA_LOST_S || (eps->has_left && eps->has_left(eps->core, pe)))
        return -EAGAIN;
    return wsh_efa_fail(
        eps, -ECONNRESET,
        "no connection to PE %d over %s for %d s: it has ended, or its host cannot be reached", pe,
        eps->rail[0].name, EFA_LOST_S);
}

void wsh_efa_lose(struct wsh_efa_eps *eps, const char *fmt, ...)
{
    va_list args;

    if (eps->lost_since)
        return;
    va_start(args, fmt);
    vsnprintf(eps->lost_text, sizeof eps->lost_text, fmt, args);
    va_end(args);
    eps->lost_since = wsh_efa_now();
}

int wsh_efa_check_lost(struct wsh_efa_eps *eps)
{
    return wsh_efa_now() - eps->lost_since < EFA_GRACE_S
               ? 0
               : wsh_efa_fail(eps, -ECONNRESET, "%s", eps->lost_text);
}

/* Nothing is under way or awaited: a peer that cannot be reached may have left. */
static bool is_quiet(const struct wsh_efa_eps *eps)
{
    for (int i = 0; i < eps->n_known; i++) {
        const struct wsh_efa_peer *peer = &eps->peers[eps->known[i]];

        if (peer->posted || peer->link.msgs || peer->link.fetches)
            return false;
    }
    return true;
}

void wsh_efa_note_event(struct wsh_efa_eps *eps, const struct wsh_efa_rail *rail, const char *text)
{
    if (eps->n_rails == 1) {
        wsh_efa_lose(eps, "%s", text);
        return;
    }
    wsh_info(WSH_SUB_TRANSPORT, "%s", text);
    wsh_efa_rails_probe(eps, (unsigned)(rail - eps->rail));
}

static void take_event(struct wsh_efa_eps *eps, const struct wsh_efa_rail *rail,
                       const struct fi_eq_err_entry *err)
{
    bool own = err->prov_errno >= EFA_OWN_ERRORS;
    char text[EFA_TEXT_MAX];

    snprintf(text, sizeof text, "%s %s: %s (code %d)%s", rail->name,
             own ? "could not send a packet of its own" : "cannot reach a peer",
             eps->lib.strerror(abs(err->err)), err->prov_errno,
             own ? "" : "; has a PE ended, or its host gone?");
    if (err->prov_errno == EFA_OWN_GREETING || (!own && eps->n_rails == 1 && is_quiet(eps)))
        wsh_info(WSH_SUB_TRANSPORT, "%s", text);
    else if (own)
        wsh_efa_lose(eps, "%s", text);
    else
        wsh_efa_note_event(eps, rail, text);
}

/* No other event is asked for. */
static void take_events(struct wsh_efa_eps *eps, const struct wsh_efa_rail *rail)
{
    struct fi_eq_err_entry err = {0};
    char entry[sizeof(struct fi_eq_cm_entry)];
    uint32_t event;

    while (fi_eq_read(rail->eq, &event, entry, sizeof entry, 0) == -FI_EAVAIL &&
           fi_eq_readerr(rail->eq, &err, 0) >= 0)
        take_event(eps, rail, &err);
}

/* Who owes acknowledgements of lazy messages alone is asked, so that it is not looked after for ever. */
static void ask_all(struct wsh_efa_eps *eps)
{
    for (uint32_t i = 0; i < eps->n_ctxs; i++)
        wsh_efa_tally_await(&eps->ctxs[i]->base, false);
}

static int probe_silent(struct wsh_efa_eps *eps)
{
    bool any = false;
    int rc = 0;

    for (int i = 0; i < eps->n_known && !rc; i++) {
        int pe = eps->known[i];
        struct wsh_efa_peer *peer = &eps->peers[pe];
        bool silent = (peer->link.msgs || peer->link.fetches) && peer->acks == peer->seen_acks;

        peer->seen_acks = peer->acks;
        any |= silent;
        if (silent)
            rc = wsh_efa_msg_probe(eps, pe);
        if (rc == -EAGAIN)
            rc = 0;
    }
    if (any)
        ask_all(eps);
    return rc;
}

int wsh_efa_look_after(struct wsh_efa_eps *eps)
{
    double time = wsh_efa_now();

    if (time < eps->next_look)
        return 0;
    eps->next_look = time + EFA_LOOK_S;
    for (uint32_t i = 0; i < eps->n_rails; i++)
        if (eps->rail[i].eq)
            take_events(eps, &eps->rail[i]);
    if (eps->any_lost)
        wsh_efa_rails_look(eps);
    return eps->by_sockets ? probe_silent(eps) : 0;
}
