/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts operations over several rails, and repeats those of a NIC that is lost.
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
 *                but its last try may be recent: the write goes again only after WSH_EFA_STALE_S.
 *   counted      writes are not repeated: whether the target has counted the first try cannot be known, and a count
 *                that is one too high lets a signal through before its data. The job ends with a line.
 *   messages     carry a number, so the target drops what it has already (wsh_srd_rx_flow_has). An answer is dropped by
 *                its request's generation, and acks of older numbers do nothing.
 * The wait also outlasts further reports of the same failure, which some providers give for every packet.
 *
 * Some providers need packets of the other end before an operation ends (receipts, answers to reads), and may lose
 * one of those without an error here. So both ends are to know of a lost path: every message says which rails of its
 * sender do not reach the receiver, and where a provider could not send something of its own, acks on that rail
 * find out to whom. What went by a lost path and has not ended after some time ends the job with a line (rail_loss.c).
 *
 * A peer that has died looks the same until its last path is lost. So that a NIC is left out is said once something has
 * come back from the peer by another; when none is left, the peer counts as dead, with the line of the last failure.
 */
#include "transports/efa/wire/rails.h"

#include "base/log.h"
#include "topo/topo.h"
#include "transports/efa/wire/batch.h"
#include "transports/efa/ops/op.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/set/errors.h"

#include <stdio.h>
#include <string.h>

#define WSH_EFA_STALE_S 0.2

static void rail_took(struct wsh_efa_set *set, struct wsh_efa_req *req, unsigned rail)
{
    req->wr.rail = (uint8_t)rail;
    set->choice.bytes[rail] += req->wr.len;
    set->n_writes += req->kind == WSH_EFA_REQ_WRITE;
    set->peers[req->pe].path[rail].posted++;
    wsh_efa_req_begin(set, req, req->wr.len);
}

static void lose_path(struct wsh_efa_set *set, int pe, unsigned rail, const char *why)
{
    struct wsh_efa_peer *peer = &set->peers[pe];

    if (!(peer->paths >> rail & 1))
        return;
    peer->paths &= (uint8_t) ~(1u << rail);
    peer->lost |= (uint8_t)(1u << rail);
    peer->unacked |= (uint8_t)(1u << rail);
    peer->path[rail].lost_since = wsh_efa_now();
    peer->notice = set->rail_loss.any_notice = set->rail_loss.any = true;
    if (!set->rail_loss.text[rail][0])
        snprintf(set->rail_loss.text[rail], sizeof set->rail_loss.text[rail], "%s", why);
    wsh_info(WSH_SUB_TRANSPORT, "rail %u to PE %d is left out: %s", rail, pe, why);
}

static const char *name_of(const struct wsh_efa_req *req)
{
    static const char *const names[] = {"put", "get", "message"};

    return names[req->kind];
}

/* By the rail that has least to do, or any other that takes it. A message too. */
int wsh_efa_rails_start(struct wsh_efa_set *set, struct wsh_efa_req *req, uint64_t imm)
{
    struct wsh_efa_peer *peer = &set->peers[req->pe];
    unsigned usable = peer->paths;

    if (wsh_efa_gone_take(set, req))
        return 0;
    if (wsh_unlikely(!usable))
        wsh_efa_set_fail_later(set, "no NIC reaches PE %d any more; is PE %d alive and its host reachable?",
                               req->pe, req->pe);
    while (usable) {
        int rail = wsh_efa_choice_rail(&set->choice, usable, req->wr.len);
        ssize_t rc = rail < 0 ? -FI_EAGAIN : wsh_efa_batch_post(set, req, (unsigned)rail, imm);

        if (!rc) {
            rail_took(set, req, (unsigned)rail);
            return 0;
        }
        if (rail < 0)
            return -EAGAIN;
        usable &= ~(1u << rail);
        rc = wsh_efa_rail_error(set, (unsigned)rail, rc);
        if (rc == -FI_EAGAIN)
            continue;
        if (!wsh_efa_error_is_gone((int)-rc) || peer->paths == 1u << rail)
            return wsh_efa_post_check(set, (unsigned)rail, req->pe, name_of(req), rc);
        lose_path(set, req->pe, (unsigned)rail, set->lib.strerror((int)-rc));
    }
    return -EAGAIN;
}

int wsh_efa_rails_post(struct wsh_efa_set *set, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                       uint64_t flags, uint64_t imm)
{
    wsh_efa_wr_fill(req, span, flags);
    return wsh_efa_rails_start(set, req, imm);
}

int wsh_efa_rails_send(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    struct wsh_efa_head *head = (struct wsh_efa_head *)req->buf;

    head->lost = set->peers[req->pe].lost;
    req->wr.len = req->len;
    return wsh_efa_rails_start(set, req, 0);
}

/* Something has come back by another rail, so the peer lives. One line for a rail, whatever peers it does not reach. */
static void warn_lost(struct wsh_efa_set *set, int pe)
{
    struct wsh_efa_peer *peer = &set->peers[pe];
    unsigned lost = peer->unacked;

    peer->unacked = 0;
    for (unsigned rail = 0; rail < set->n_rails; rail++) {
        unsigned bit = 1u << rail;

        if (!(lost & bit) || __atomic_fetch_or(&set->efa->noticed_rails, bit, __ATOMIC_RELAXED) & bit)
            continue;
        wsh_warn("%s is left out from now on, and %d of %u NICs go on: %s", set->rail[rail].name,
                 __builtin_popcount(peer->paths), set->n_rails, set->rail_loss.text[rail]);
        if (set->env->strict)
            wsh_efa_set_fail(set, -ENETDOWN, "SHMEM_STRICT=1: going on with fewer NICs is slower");
    }
}

void wsh_efa_rails_ended(struct wsh_efa_set *set, struct wsh_efa_req *req, bool ok)
{
    set->choice.bytes[req->wr.rail] -= req->wr.len;
    set->peers[req->pe].path[req->wr.rail].posted--;
    if (wsh_unlikely(ok && set->peers[req->pe].unacked))
        warn_lost(set, req->pe);
}

static bool may_repeat(const struct wsh_efa_req *req)
{
    return req->kind != WSH_EFA_REQ_WRITE || !(req->wr.flags & FI_REMOTE_CQ_DATA || req->wr.counter);
}

bool wsh_efa_rails_again(struct wsh_efa_set *set, struct wsh_efa_req *req, const char *why)
{
    struct wsh_efa_peer *peer = &set->peers[req->pe];

    if (!may_repeat(req))
        return false;
    lose_path(set, req->pe, req->wr.rail, why);
    if (!peer->paths)
        return false;
    set->n_writes -= req->kind == WSH_EFA_REQ_WRITE;
    req->wr.kind = req->kind;
    req->wr.due = wsh_efa_now() + WSH_EFA_STALE_S;
    req->kind = WSH_EFA_REQ_OVER;
    req->next = NULL;
    *set->rail_loss.again_end = req;
    set->rail_loss.again_end = &req->next;
    return true;
}

/* 0: it is under way again, or not needed any more. */
static int start_req_again(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    int rc;

    req->kind = req->wr.kind;
    if (!set->peers[req->pe].paths && wsh_efa_req_is_harmless(set, req)) {
        wsh_efa_req_put(req);
        return 0;
    }
    rc = wsh_efa_rails_start(set, req, 0);
    if (rc)
        req->kind = WSH_EFA_REQ_OVER;
    return rc;
}

int wsh_efa_rails_progress(struct wsh_efa_set *set)
{
    double now = set->rail_loss.again ? wsh_efa_now() : 0;
    int started = 0, rc;

    while (set->rail_loss.again && set->rail_loss.again->wr.due <= now) {
        struct wsh_efa_req *req = set->rail_loss.again, *next = req->next;

        rc = start_req_again(set, req);
        if (rc)
            return rc == -EAGAIN ? started : rc;
        set->rail_loss.again = next;
        if (!next)
            set->rail_loss.again_end = &set->rail_loss.again;
        started++;
    }
    return started;
}

void wsh_efa_rails_noticed(struct wsh_efa_set *set, int pe, unsigned lost)
{
    struct wsh_efa_peer *peer = &set->peers[pe];
    char why[64];

    snprintf(why, sizeof why, "PE %d does not reach this PE by it", pe);
    for (unsigned rail = 0; rail < set->n_rails; rail++)
        if (lost >> wsh_topo_pair((int)rail, peer->n_rails) & 1 && peer->paths != 1u << rail)
            lose_path(set, pe, rail, why);
}
