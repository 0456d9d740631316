/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows how operations go by several rails, and what becomes of those on a NIC that is lost.
 *
 * Any operation may go by any rail, since the ordering engine asks for no order of the network (srd.h).
 *
 * A NIC is lost to a peer when an operation ends with the error of a peer that is gone: this PE's own NIC, the peer's
 * or the link between. The path (rail, peer) is not used any more, and what failed on it goes by another one, where
 * that does no harm. It must not take effect twice:
 *   reads        may be repeated: the device has forgotten a failed one, and writes nothing here after its error.
 *   writes       bring the same bytes to the same place, so a repeated one does no harm while it counts as under way.
 *                Packets of the first try could still be on the network and land after the program, told that the put
 *                is complete, has put something else there. The device has tried for much longer than a packet lives,
 *                but its last try may be young: the write goes again only after EFA_STALE_S.
 *   counted      writes are not repeated: whether the target has counted the first try cannot be known, and a count
 *                that is one too high lets a signal through before its data. The job ends with a line.
 *   messages     carry a number, so the target drops what it has already (wsh_srd_inlet_has). An answer is dropped by
 *                its question's generation, and tellings of older numbers do nothing.
 * The wait also outlasts further reports of the same failure, which some providers give for every packet.
 *
 * Some providers need packets of the other end before an operation ends (receipts, answers to reads), and may lose
 * one of those without an error here. So both ends are to know of a lost path: every message says which rails of its
 * sender do not reach the receiver, and where a provider could not send something of its own, tellings on that rail
 * find out to whom. What went by a lost path and has not ended after EFA_ENDLESS_S ends the job with a line.
 *
 * A peer that has died looks the same until its last path is lost. So that a NIC is left out is said once something has
 * come back from the peer by another; when none is left, the peer counts as dead, with the line of the last failure.
 */
#include "transports/efa/rails.h"

#include "base/log.h"
#include "topo/topo.h"
#include "transports/efa/run.h"

#include <stdio.h>
#include <string.h>

#define EFA_STALE_S 0.2
#define EFA_ENDLESS_S 10

static void took(struct wsh_efa_tp *tp, struct wsh_efa_req *req, unsigned rail)
{
    req->way.rail = (uint8_t)rail;
    tp->choice.bytes[rail] += req->way.len;
    tp->n_writes += req->kind == EFA_REQ_WRITE;
    tp->peers[req->pe].path[rail].posted++;
    wsh_efa_took(tp, req);
}

static void lose_path(struct wsh_efa_tp *tp, int pe, unsigned rail, const char *why)
{
    struct wsh_efa_peer *peer = &tp->peers[pe];

    if (!(peer->paths >> rail & 1))
        return;
    peer->paths &= (uint8_t) ~(1u << rail);
    peer->lost |= (uint8_t)(1u << rail);
    peer->untold |= (uint8_t)(1u << rail);
    peer->path[rail].lost_since = wsh_efa_now();
    peer->news = tp->any_news = tp->any_lost = true;
    if (!tp->rail_text[rail][0])
        snprintf(tp->rail_text[rail], sizeof tp->rail_text[rail], "%s", why);
    wsh_info(WSH_SUB_TRANSPORT, "rail %u to PE %d is left out: %s", rail, pe, why);
}

static const char *name_of(const struct wsh_efa_req *req)
{
    static const char *const names[] = {"put", "get", "message"};

    return names[req->kind];
}

/* By the rail that has least to do, or any other that takes it. */
static int start(struct wsh_efa_tp *tp, struct wsh_efa_req *req, uint64_t imm)
{
    struct wsh_efa_peer *peer = &tp->peers[req->pe];
    unsigned usable = peer->paths;

    if (wsh_unlikely(!usable))
        wsh_efa_lose(tp, "no NIC reaches PE %d any more; is PE %d alive and its host reachable?", req->pe,
                     req->pe);
    while (usable) {
        int rail = wsh_efa_choice_rail(&tp->choice, usable, req->way.len);
        ssize_t rc = rail < 0 ? -FI_EAGAIN : wsh_efa_run_give(tp, req, (unsigned)rail, imm);

        if (!rc) {
            took(tp, req, (unsigned)rail);
            return 0;
        }
        if (rail < 0)
            return -EAGAIN;
        usable &= ~(1u << rail);
        rc = wsh_efa_refusal(tp, (unsigned)rail, rc);
        if (rc == -FI_EAGAIN)
            continue;
        if (!wsh_efa_is_gone((int)-rc) || peer->paths == 1u << rail)
            return wsh_efa_posted(tp, (unsigned)rail, req->pe, name_of(req), rc);
        lose_path(tp, req->pe, (unsigned)rail, tp->lib.strerror((int)-rc));
    }
    return -EAGAIN;
}

int wsh_efa_rails_post(struct wsh_efa_tp *tp, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                       uint64_t flags, uint64_t imm)
{
    wsh_efa_way_fill(req, span, flags);
    return start(tp, req, imm);
}

int wsh_efa_rails_send(struct wsh_efa_tp *tp, struct wsh_efa_req *req)
{
    struct wsh_efa_head *head = (struct wsh_efa_head *)req->buf;

    head->lost = tp->peers[req->pe].lost;
    req->way.len = req->len;
    return start(tp, req, 0);
}

/* Something has come back by another rail, so the peer lives. One line for a rail, whatever peers it does not reach. */
static void tell_lost(struct wsh_efa_tp *tp, int pe)
{
    struct wsh_efa_peer *peer = &tp->peers[pe];
    unsigned news = peer->untold;

    peer->untold = 0;
    for (unsigned rail = 0; rail < tp->n_rails; rail++) {
        unsigned bit = 1u << rail;

        if (!(news & bit) || __atomic_fetch_or(&tp->lanes->told_rails, bit, __ATOMIC_RELAXED) & bit)
            continue;
        wsh_warn("%s is left out from now on, and %d of %u NICs go on: %s", tp->rail[rail].name,
                 __builtin_popcount(peer->paths), tp->n_rails, tp->rail_text[rail]);
        if (tp->env->strict)
            wsh_efa_fail(tp, -ENETDOWN, "SHMEM_STRICT=1: going on with fewer NICs is slower");
    }
}

void wsh_efa_rails_ended(struct wsh_efa_tp *tp, struct wsh_efa_req *req, bool ok)
{
    tp->choice.bytes[req->way.rail] -= req->way.len;
    tp->peers[req->pe].path[req->way.rail].posted--;
    if (wsh_unlikely(ok && tp->peers[req->pe].untold))
        tell_lost(tp, req->pe);
}

static bool may_repeat(const struct wsh_efa_req *req)
{
    return req->kind != EFA_REQ_WRITE || !req->op || !req->op->srd.grouped;
}

bool wsh_efa_rails_again(struct wsh_efa_tp *tp, struct wsh_efa_req *req, const char *why)
{
    struct wsh_efa_peer *peer = &tp->peers[req->pe];

    if (!may_repeat(req))
        return false;
    lose_path(tp, req->pe, req->way.rail, why);
    if (!peer->paths)
        return false;
    tp->n_writes -= req->kind == EFA_REQ_WRITE;
    req->way.kind = req->kind;
    req->way.due = wsh_efa_now() + EFA_STALE_S;
    req->kind = EFA_REQ_OVER;
    req->next = NULL;
    *tp->again_end = req;
    tp->again_end = &req->next;
    return true;
}

/* 0: it is under way again, or not needed any more. */
static int start_again(struct wsh_efa_tp *tp, struct wsh_efa_req *req)
{
    int rc;

    req->kind = req->way.kind;
    if (!tp->peers[req->pe].paths && wsh_efa_is_harmless(tp, req)) {
        wsh_efa_req_put(req);
        return 0;
    }
    rc = start(tp, req, 0);
    if (rc)
        req->kind = EFA_REQ_OVER;
    return rc;
}

static int tell_news(struct wsh_efa_tp *tp)
{
    int rc = 0;

    tp->any_news = false;
    for (int pe = 0; pe < tp->n_pes && !rc; pe++) {
        struct wsh_efa_peer *peer = &tp->peers[pe];

        if (!peer->news || !peer->paths)
            continue;
        rc = wsh_efa_msg_probe(tp, pe);
        peer->news = rc != 0;
        tp->any_news |= peer->news;
    }
    return rc == -EAGAIN ? 0 : rc;
}

int wsh_efa_rails_progress(struct wsh_efa_tp *tp)
{
    double now = tp->again ? wsh_efa_now() : 0;
    int started = 0, rc;

    if (wsh_unlikely(tp->any_news) && (rc = tell_news(tp)))
        return rc;
    while (tp->again && tp->again->way.due <= now) {
        struct wsh_efa_req *req = tp->again, *next = req->next;

        rc = start_again(tp, req);
        if (rc)
            return rc == -EAGAIN ? started : rc;
        tp->again = next;
        if (!next)
            tp->again_end = &tp->again;
        started++;
    }
    return started;
}

void wsh_efa_rails_told(struct wsh_efa_tp *tp, int pe, unsigned lost)
{
    struct wsh_efa_peer *peer = &tp->peers[pe];
    char why[64];

    snprintf(why, sizeof why, "PE %d does not reach this PE by it", pe);
    for (unsigned rail = 0; rail < tp->n_rails; rail++)
        if (lost >> wsh_topo_pair((int)rail, peer->n_rails) & 1 && peer->paths != 1u << rail)
            lose_path(tp, pe, rail, why);
}

void wsh_efa_rails_probe(struct wsh_efa_tp *tp, unsigned rail)
{
    for (int pe = 0; pe < tp->n_pes; pe++) {
        struct wsh_efa_peer *peer = &tp->peers[pe];
        uint8_t paths = peer->paths;

        if (pe == tp->my_pe || !(paths >> rail & 1))
            continue;
        peer->paths = (uint8_t)(1u << rail);
        (void)wsh_efa_msg_probe(tp, pe); /* no room: there will be another event, or none is needed */
        peer->paths = paths;
    }
}

void wsh_efa_rails_look(struct wsh_efa_tp *tp)
{
    double now = wsh_efa_now();

    for (int pe = 0; pe < tp->n_pes; pe++)
        for (unsigned rail = 0; tp->peers[pe].path && rail < tp->n_rails; rail++) {
            const struct wsh_efa_path *path = &tp->peers[pe].path[rail];

            if (path->lost_since && path->posted && now - path->lost_since >= EFA_ENDLESS_S)
                wsh_efa_lose(
                    tp,
                    "%u operation%s to PE %d over %s not ended %d s after that NIC was lost (%s), and "
                    "cannot be repeated while they might",
                    path->posted, path->posted == 1 ? "" : "s", pe, tp->rail[rail].name, EFA_ENDLESS_S,
                    tp->rail_text[rail]);
        }
}
