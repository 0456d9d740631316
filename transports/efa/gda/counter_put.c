/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts to the queue pairs of peers whose NICs count. */
#include "transports/efa/gda/counters.h"

#include "base/log.h"
#include "topo/topo.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/wire/rails.h"

#include <stdlib.h>
#include <string.h>

static int make_room(struct wsh_efa_peer *peer, uint32_t n)
{
    struct wsh_efa_remote_counter **more;

    if (n <= peer->n_counters)
        return 0;
    more = realloc(peer->counter, n * sizeof *more);
    if (!more)
        return -ENOMEM;
    memset(more + peer->n_counters, 0, (n - peer->n_counters) * sizeof *more);
    peer->counter = more;
    peer->n_counters = n;
    return 0;
}

static int attach_names(struct wsh_efa_peer *peer, uint32_t number, const struct wsh_efa_counter_blob *blob,
                        size_t names_len)
{
    struct wsh_efa_remote_counter *remote;

    if (make_room(peer, number + 1))
        return -ENOMEM;
    remote = peer->counter[number];
    if (remote && !memcmp(remote->name, blob->name, names_len))
        return 0;
    remote = malloc(sizeof *remote + names_len);
    if (!remote)
        return -ENOMEM;
    *remote = (struct wsh_efa_remote_counter){.n_rails = blob->n_rails, .name_len = blob->name_len};
    memcpy(remote->name, blob->name, names_len);
    free(peer->counter[number]);
    peer->counter[number] = remote;
    return 0;
}

int wsh_efa_counter_attach(struct wsh_efa_set *set, int pe, uint32_t number, const void *in, size_t len)
{
    struct wsh_efa_peer *peer = &set->peers[pe];
    struct wsh_efa_counter_blob blob = {0};
    size_t names_len;
    int rc;

    wsh_efa_set_lock(set);
    rc = wsh_efa_peer_join(set, pe);
    wsh_efa_set_unlock(set);
    if (rc)
        return rc;
    memcpy(&blob, in, len < sizeof blob ? len : sizeof blob);
    names_len = (size_t)blob.n_rails * blob.name_len;
    if (number >= WSH_TP_COUNTERS || blob.n_rails != peer->n_rails || names_len > sizeof blob.name ||
        len != WSH_EFA_COUNTER_BLOB_LEN(names_len)) {
        wsh_error(
            "PE %d names the queue pairs of counter %u in another form (%zu bytes); run the same library on "
            "every PE",
            pe, number, len);
        return -EPROTO;
    }
    wsh_efa_set_lock(set);
    rc = attach_names(peer, number, &blob, names_len);
    wsh_efa_set_unlock(set);
    return rc;
}

/* Into the address vector of each rail: what its paths lead to. */
static int enter(struct wsh_efa_set *set, int pe, struct wsh_efa_remote_counter *remote)
{
    int rc = 0;

    for (unsigned i = 0; i < set->n_rails && !rc; i++) {
        unsigned at = (unsigned)wsh_topo_pair((int)i, remote->n_rails) * remote->name_len;

        rc = wsh_efa_rail_insert(&set->rail[i], &set->lib, remote->name + at, pe, &remote->addr[i]);
    }
    remote->entered = !rc;
    return rc ? wsh_efa_set_fail(set, rc, "the queue pairs that count for PE %d cannot be addressed", pe) : 0;
}

int wsh_efa_counter_enter(struct wsh_efa_set *set, int pe, uint32_t number)
{
    struct wsh_efa_remote_counter *remote = set->peers[pe].counter[number];

    return remote->entered ? 0 : enter(set, pe, remote);
}

int wsh_efa_counter_query(struct wsh_efa_set *set, int pe, uint32_t number, unsigned rail, uint16_t *ah,
                          uint16_t *qpn, uint32_t *qkey)
{
    const struct wsh_efa_gda_ops *ops = set->counters ? set->counters->ops[rail] : NULL;
    int rc;

    wsh_efa_set_lock(set);
    rc = ops && wsh_efa_counter_is_kept(set, pe, number) ? wsh_efa_counter_enter(set, pe, number) : -ENOENT;
    if (!rc)
        rc = ops->query_addr(set->rail[rail].ep, wsh_efa_counter_addr(set, pe, number, rail), ah, qpn, qkey);
    wsh_efa_set_unlock(set);
    return rc;
}

static int post(struct wsh_efa_set *set, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                const uint64_t *keys, uint32_t number)
{
    wsh_efa_wr_fill(req, span, 0);
    req->wr.keys = keys;
    req->wr.counter = (uint16_t)(number + 1);
    return set->n_rails > 1 ? wsh_efa_rails_start(set, req, 0) : wsh_efa_batch_start(set, req, 0);
}

/* Writes of earlier epochs are complete, and nothing waits. */
bool wsh_efa_counter_begin(struct wsh_efa_flow *flow)
{
    struct wsh_srd_ctx *ctx = &flow->ctx->srd;

    return wsh_srd_put_fast(ctx, &flow->srd) ||
           (wsh_srd_put_kind(ctx, &flow->srd, true) == WSH_SRD_PUT && wsh_srd_put_fast(ctx, &flow->srd));
}

int wsh_efa_counter_put(struct wsh_efa_set *set, struct wsh_efa_flow *flow, const struct wsh_efa_span *span,
                        const uint64_t *keys, uint32_t number, struct wsh_done *done)
{
    struct wsh_efa_req *req = wsh_efa_req_get(&set->plain, WSH_EFA_REQ_WRITE, flow->pe);
    int rc = req ? post(set, req, span, keys, number) : -EAGAIN;

    if (rc) {
        wsh_srd_put_refused(&flow->ctx->srd, &flow->srd);
        if (req)
            wsh_efa_req_put(req);
        return rc;
    }
    set->n_counted++;
    req->flow = flow;
    req->done = done;
    wsh_efa_done_add(done);
    return 0;
}
