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
#include "transports/efa/set/errors.h"
#include "transports/efa/wire/rail_loss.h"
#include "transports/efa/ops/imm_count.h"

#include <stdio.h>
#include <stdlib.h>

#define WSH_EFA_POLL_S 1 /* seconds of silence after which a peer that owes answers is sent something */
/*
 * Codes from this one on are no statuses of the device: the efa provider could not send a packet of its own. One that
 * serves somebody's read or write is missed there for ever, though nothing is awaited here; a greeting goes again.
 */
#define WSH_EFA_OWN_ERRORS 4096
#define WSH_EFA_OWN_GREETING 4113

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

void wsh_efa_alive_note(struct wsh_efa_set *set, const struct wsh_efa_rail *rail, const char *text)
{
    if (set->n_rails == 1) {
        wsh_efa_set_fail_later(set, "%s", text);
        return;
    }
    wsh_info(WSH_SUB_TRANSPORT, "%s", text);
    wsh_efa_rail_loss_probe(set, (unsigned)(rail - set->rail));
}

static void take_event(struct wsh_efa_set *set, const struct wsh_efa_rail *rail,
                       const struct fi_eq_err_entry *err)
{
    bool own = err->prov_errno >= WSH_EFA_OWN_ERRORS;
    char text[WSH_EFA_TEXT_MAX];

    snprintf(text, sizeof text, "%s %s: %s (code %d)%s", rail->name,
             own ? "could not send a packet of its own" : "cannot reach a peer",
             set->lib.strerror(abs(err->err)), err->prov_errno,
             own ? "" : "; has a PE ended, or its host gone?");
    if (err->prov_errno == WSH_EFA_OWN_GREETING || (!own && set->n_rails == 1 && is_quiet(set)))
        wsh_info(WSH_SUB_TRANSPORT, "%s", text);
    else if (own)
        wsh_efa_set_fail_later(set, "%s", text);
    else
        wsh_efa_alive_note(set, rail, text);
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

/* Acknowledgements of lazy messages alone are requested, so that their peer is not taken for silent for ever. */
static void await_all(struct wsh_efa_set *set)
{
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        wsh_efa_ctx_await(&set->ctxs[i]->base, false);
}

static int probe_silent(struct wsh_efa_set *set)
{
    bool any = false;
    int rc = 0;

    for (int i = 0; i < set->n_known && !rc; i++) {
        int pe = set->known[i];
        struct wsh_efa_peer *peer = &set->peers[pe];
        bool silent = (peer->link.msgs || peer->link.fetches) && peer->acks == peer->polled_acks;

        peer->polled_acks = peer->acks;
        any |= silent;
        if (silent)
            rc = wsh_efa_msg_probe(set, pe);
        if (rc == -EAGAIN)
            rc = 0;
    }
    if (any)
        await_all(set);
    return rc;
}

int wsh_efa_alive_poll(struct wsh_efa_set *set)
{
    double time = wsh_efa_now();

    if (time < set->alive.next_poll)
        return 0;
    set->alive.next_poll = time + WSH_EFA_POLL_S;
    for (uint32_t i = 0; i < set->n_rails; i++)
        if (set->rail[i].eq)
            take_events(set, &set->rail[i]);
    if (set->rail_loss.any)
        wsh_efa_rail_loss_poll(set);
    return set->by_sockets ? probe_silent(set) : 0;
}
