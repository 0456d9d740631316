/* SPDX-License-Identifier: BSD-3-Clause */
/* What the errors of the provider mean: try again, a peer that is gone, or the end of the job. */
#include "transports/efa/set/errors.h"

#include "base/err.h"
#include "base/log.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/set/set.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define WSH_EFA_FULL_S 2 /* seconds for which a queue may be full although nothing is under way, or ends */
#define WSH_EFA_LOST_S 5 /* seconds without a connection after which a peer that once answered is given up */
/* Seconds that a launcher has to end the job, and name the PE that died, before we do; beyond set->news_seconds. */
#define WSH_EFA_GRACE_S 2

double wsh_efa_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int wsh_efa_set_fail(struct wsh_efa_set *set, int err, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    if (set->failed)
        return set->failed;
    /* libfabric 1.17 returns some errors, and reports some, with the wrong sign. */
    err = err > 0 ? -err : err;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    /* One line, of the first endpoint set. */
    if (!__atomic_exchange_n(&set->efa->failed, err, __ATOMIC_RELAXED))
        wsh_error("%s", text);
    __atomic_store_n(&set->failed, err, __ATOMIC_RELAXED);
    return err;
}

void wsh_efa_set_fail_later(struct wsh_efa_set *set, const char *fmt, ...)
{
    va_list args;

    if (set->loss.since)
        return;
    va_start(args, fmt);
    vsnprintf(set->loss.text, sizeof set->loss.text, fmt, args);
    va_end(args);
    set->loss.since = wsh_efa_now();
}

int wsh_efa_set_check_lost(struct wsh_efa_set *set)
{
    return wsh_efa_now() - set->loss.since < WSH_EFA_GRACE_S + set->news_seconds
               ? 0
               : wsh_efa_set_fail(set, -ECONNRESET, "%s", set->loss.text);
}

/* In the words of different providers. */
bool wsh_efa_error_is_gone(int err)
{
    return err == FI_ENOTCONN || err == FI_ECONNRESET || err == FI_ECONNABORTED || err == FI_ECONNREFUSED ||
           err == FI_ESHUTDOWN || err == EPIPE || err == FI_EHOSTUNREACH || err == FI_ETIMEDOUT ||
           err == FI_EIO || err == FI_ECANCELED;
}

/* A failed ack does no harm where nothing is awaited from its peer, which may have left. */
bool wsh_efa_req_is_harmless(const struct wsh_efa_set *set, const struct wsh_efa_req *req)
{
    const struct wsh_srd_link *link = &set->peers[req->pe].link;

    return req->kind == WSH_EFA_REQ_SEND &&
           ((const struct wsh_efa_head *)req->buf)->type == WSH_EFA_WIRE_ACK && !link->msgs && !link->fetches;
}

ssize_t wsh_efa_rail_error(struct wsh_efa_set *set, unsigned index, ssize_t rc)
{
    struct wsh_efa_rail *rail = &set->rail[index];
    double now;

    rc = rc > 0 ? -rc : rc;
    if (rc != -FI_ENOMEM)
        return rc;
    now = wsh_efa_now();
    if (rail->taken || rail->full_at != rail->ended || !rail->full_since) {
        rail->full_at = rail->ended;
        rail->full_since = now;
    }
    return now - rail->full_since < WSH_EFA_FULL_S ? -FI_EAGAIN : rc;
}

const char *wsh_efa_error_cure(int err, int pe, char room[static 80])
{
    snprintf(room, 80, "is PE %d alive and its host reachable?", pe);
    return wsh_err_cure(err, room);
}

/*
 * The provider takes nothing for a peer to which nothing is under way, and which has been connected before: there
 * is no connection any more. A peer that merely stands still keeps its connection, and its buffers fill up.
 */
static int no_room(struct wsh_efa_set *set, int pe)
{
    struct wsh_efa_peer *peer = &set->peers[pe];

    peer->retries++;
    if (peer->posted || !peer->heard || !set->by_sockets)
        return -EAGAIN;
    if (!peer->lost_since)
        peer->lost_since = wsh_efa_now();
    if (wsh_efa_now() - peer->lost_since < WSH_EFA_LOST_S + set->news_seconds ||
        (set->has_left && set->has_left(set->core, pe)))
        return -EAGAIN;
    return wsh_efa_set_fail(
        set, -ECONNRESET,
        "no connection to PE %d over %s for %d s: it has ended, or its host cannot be reached", pe,
        set->rail[0].name, WSH_EFA_LOST_S);
}

int wsh_efa_post_check(struct wsh_efa_set *set, unsigned rail, int pe, const char *what, ssize_t rc)
{
    static const char fmt[] = "%s of PE %d to PE %d over %s cannot start: %s; %s";
    const char *text, *cure;
    char alive[80];

    if (!rc)
        return 0;
    rc = wsh_efa_rail_error(set, rail, rc);
    if (rc == -FI_EAGAIN)
        return no_room(set, pe);
    text = set->lib.strerror((int)-rc);
    cure = wsh_efa_error_cure((int)rc, pe, alive);
    if (!wsh_efa_error_is_gone((int)-rc))
        return wsh_efa_set_fail(set, (int)rc, fmt, what, set->my_pe, pe, set->rail[rail].name, text, cure);
    wsh_efa_set_fail_later(set, fmt, what, set->my_pe, pe, set->rail[rail].name, text, cure);
    return -EAGAIN;
}
