/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that a REPLY answers: atomics with a result, and small gets behind a fence. */
#include "transports/efa/ops/fetch.h"

#include "base/invariant.h"
#include "transports/efa/set/set.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/ops/op.h"

#include <stdlib.h>
#include <string.h>

#define WSH_EFA_NONE 0xffffu

int wsh_efa_fetch_init(struct wsh_efa_set *set)
{
    set->fetches.all = calloc(WSH_EFA_FETCHES, sizeof *set->fetches.all);
    if (!set->fetches.all)
        return -ENOMEM;
    for (uint16_t i = 0; i < WSH_EFA_FETCHES; i++)
        set->fetches.all[i].next = (uint16_t)(i + 1u < WSH_EFA_FETCHES ? i + 1u : WSH_EFA_NONE);
    return 0;
}

static void fetch_free(struct wsh_efa_set *set, struct wsh_efa_fetch *fetch)
{
    WSH_INVARIANT(fetch->flow);
    fetch->flow = NULL;
    fetch->generation++;
    fetch->next = set->fetches.free;
    set->fetches.free = (uint16_t)(fetch - set->fetches.all);
}

static struct wsh_efa_fetch *fetch_new(struct wsh_efa_set *set, const struct wsh_efa_fetch *from)
{
    struct wsh_efa_fetch *fetch =
        set->fetches.free == WSH_EFA_NONE ? NULL : &set->fetches.all[set->fetches.free];
    uint16_t generation;

    if (!fetch)
        return NULL;
    set->fetches.free = fetch->next;
    generation = fetch->generation;
    *fetch = *from;
    fetch->generation = generation;
    return fetch;
}

int wsh_efa_fetch_submit(struct wsh_efa_set *set, struct wsh_efa_op *op, uint32_t *cookie,
                         const struct wsh_efa_fetch *from)
{
    struct wsh_efa_fetch *fetch = fetch_new(set, from);
    int rc;

    if (!fetch) {
        wsh_efa_op_refuse(set, op);
        return -EAGAIN;
    }
    *cookie = (uint32_t)(fetch - set->fetches.all) | (uint32_t)fetch->generation << 16;
    rc = wsh_efa_op_submit(set, op, NULL);
    if (rc) {
        fetch_free(set, fetch);
        return rc;
    }
    wsh_efa_count_add(&fetch->flow->what[fetch->what]);
    wsh_efa_done_add(fetch->done);
    return 0;
}

static void store_result(const struct wsh_efa_fetch *fetch, const void *bytes)
{
    uint64_t value;

    if (fetch->what == WSH_EFA_GETS) {
        memcpy(fetch->result, bytes, fetch->len);
        return;
    }
    memcpy(&value, bytes, sizeof value);
    wsh_amo_store_result(fetch->result, fetch->len, value);
}

static int fetch_end(struct wsh_efa_set *set, struct wsh_efa_fetch *fetch)
{
    struct wsh_efa_flow *flow = fetch->flow;
    int rc = wsh_srd_flow_replied(&flow->ctx->srd, &flow->srd);

    wsh_efa_count_sub(&flow->what[fetch->what]);
    wsh_efa_done_sub(fetch->done);
    fetch_free(set, fetch);
    return rc;
}

int wsh_efa_fetch_answered(struct wsh_efa_set *set, int pe, uint32_t cookie, const void *bytes, size_t len)
{
    uint32_t index = cookie & 0xffff;
    struct wsh_efa_fetch *fetch = index < WSH_EFA_FETCHES ? &set->fetches.all[index] : NULL;
    struct wsh_efa_flow *flow = fetch ? fetch->flow : NULL;

    if (!flow || flow->pe != pe || fetch->generation != cookie >> 16 ||
        len != (fetch->what == WSH_EFA_GETS ? fetch->len : sizeof(uint64_t)))
        return -EPROTO;
    store_result(fetch, bytes);
    return fetch_end(set, fetch);
}

void wsh_efa_fetch_give_up(struct wsh_efa_set *set, struct wsh_efa_fetch *fetch)
{
    const uint64_t zero = 0;

    if (fetch->what != WSH_EFA_GETS)
        store_result(fetch, &zero);
    (void)fetch_end(set, fetch);
}

int wsh_efa_fetch_get(struct wsh_efa_set *set, struct wsh_efa_flow *flow, const struct wsh_efa_target *data,
                      void *dst, size_t len, struct wsh_done *done)
{
    const struct wsh_efa_fetch fetch = {
        .flow = flow, .done = done, .result = dst, .len = (uint32_t)len, .what = WSH_EFA_GETS};
    struct wsh_efa_req *req = wsh_efa_msg_new(set, flow, WSH_EFA_WIRE_GET, sizeof(struct wsh_efa_get_msg));
    struct wsh_efa_op *op = req ? wsh_efa_op_new(set, flow, WSH_SRD_FETCH, WSH_EFA_WHATS) : NULL;
    struct wsh_efa_get_msg *msg;

    if (!op) {
        if (req)
            wsh_efa_req_put(req);
        return -EAGAIN;
    }
    op->msg = req;
    msg = (struct wsh_efa_get_msg *)req->buf;
    msg->data = *data;
    msg->len = (uint32_t)len;
    return wsh_efa_fetch_submit(set, op, &msg->cookie, &fetch);
}
