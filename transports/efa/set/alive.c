/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds peers that are gone although no operation fails: providers over sockets try for ever to connect again to a
 * process that is gone, and report errors of what they send for themselves as events.
 */
#include "transports/efa/set/alive.h"

#include "base/log.h"
#include "transports/efa/set/set.h"
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
int wsh_efa_no_room(struct wsh_efa_set *set, int pe)
{
    struct wsh_efa_peer *peer = &set->peers[pe];

    if (peer->posted || !peer->heard || !set->by_sockets)
        return -EAGAIN;
    if (!peer->lost_since)
        peer->lost_since = wsh_efa_now();
    if (wsh_efa_now() - peer->lost_since < EFA_LOST_S || (set->has_left && set->has_left(set->core, pe)))
        return -EAGAIN;
    return wsh_efa_fail(
        set, -ECONNRESET,
        "no connection to PE %d over %s for %d s: it has ended, or its host cannot be reached", pe,
        set->rail[0].name, EFA_LOST_S);
}

void wsh_efa_lose(struct wsh_efa_set *set, const char *fmt, ...)
{
    va_list args;

    if (set->lost_since)
        return;
    va_start(args, fmt);
    vsnprintf(set->lost_text, sizeof set->lost_text, fmt, args);
    va_end(args);
    set->lost_since = wsh_efa_now();
}

int wsh_efa_check_lost(struct wsh_efa_set *set)
{
    return wsh_efa_now() - set->lost_since < EFA_GRACE_S
               ? 0
               : wsh_efa_fail(set, -ECONNRESET, "%s", set->lost_text);
}

/* Nothing is under way or awaited: a peer that cannot be reached may have left. */
static bool is_quiet(const struct wsh_efa_set *set)
{
    for (int i = 0; i < set->n_known; i++) {
        const struct wsh_efa_peer *peer = &set->peers[set->known[i]];

        if (peer->posted || peer->link.msgs || peer->link.fetches)
            return false;
    }
    return true;
}

void wsh_efa_note_event(struct wsh_efa_set *set, const struct wsh_efa_rail *rail, const char *text)
{
    if (set->n_rails == 1) {
        wsh_efa_lose(set, "%s", text);
        return;
    }
    wsh_info(WSH_SUB_TRANSPORT, "%s", text);
    wsh_efa_rails_probe(set, (unsigned)(rail - set->rail));
}

static void take_event(struct wsh_efa_set *set, const struct wsh_efa_rail *rail,
                       const struct fi_eq_err_entry *err)
{
    bool own = err->prov_errno >= EFA_OWN_ERRORS;
    char text[EFA_TEXT_MAX];

    snprintf(text, sizeof text, "%s %s: %s (code %d)%s", rail->name,
             own ? "could not send a packet of its own" : "cannot reach a peer",
             set->lib.strerror(abs(err->err)), err->prov_errno,
             own ? "" : "; has a PE ended, or its host gone?");
    if (err->prov_errno == EFA_OWN_GREETING || (!own && set->n_rails == 1 && is_quiet(set)))
        wsh_info(WSH_SUB_TRANSPORT, "%s", text);
    else if (own)
        wsh_efa_lose(set, "%s", text);
    else
        wsh_efa_note_event(set, rail, text);
}

/* No other event is asked for. */
static void take_events(struct wsh_efa_set *set, const struct wsh_efa_rail *rail)
{
    struct fi_eq_err_entry err = {0};
    char entry[sizeof(struct fi_eq_cm_entry)];
    uint32_t event;

    while (fi_eq_read(rail->eq, &event, entry, sizeof entry, 0) == -FI_EAVAIL &&
           fi_eq_readerr(rail->eq, &err, 0) >= 0)
        take_event(set, rail, &err);
}

/* Who owes acknowledgements of lazy messages alone is asked, so that it is not looked after for ever. */
static void ask_all(struct wsh_efa_set *set)
{
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        wsh_efa_tally_await(&set->ctxs[i]->base, false);
}

static int probe_silent(struct wsh_efa_set *set)
{
    bool any = false;
    int rc = 0;

    for (int i = 0; i < set->n_known && !rc; i++) {
        int pe = set->known[i];
        struct wsh_efa_peer *peer = &set->peers[pe];
        bool silent = (peer->link.msgs || peer->link.fetches) && peer->acks == peer->seen_acks;

        peer->seen_acks = peer->acks;
        any |= silent;
        if (silent)
            rc = wsh_efa_msg_probe(set, pe);
        if (rc == -EAGAIN)
            rc = 0;
    }
    if (any)
        ask_all(set);
    return rc;
}

int wsh_efa_look_after(struct wsh_efa_set *set)
{
    double time = wsh_efa_now();

    if (time < set->next_look)
        return 0;
    set->next_look = time + EFA_LOOK_S;
    for (uint32_t i = 0; i < set->n_rails; i++)
        if (set->rail[i].eq)
            take_events(set, &set->rail[i]);
    if (set->any_lost)
        wsh_efa_rails_look(set);
    return set->by_sockets ? probe_silent(set) : 0;
}
