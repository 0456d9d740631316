/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes the messages of peers at their target. */
#include "transports/efa/ops/serve.h"

#include "transports/efa/set/set.h"
#include "transports/efa/ops/fetch.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/wire/rails.h"
#include "transports/efa/ops/slots.h"
#include "transports/efa/set/foreign_packets.h"
#include "transports/efa/ops/imm_count.h"

#include <stdlib.h>
#include <string.h>

static int refuse_msg(struct wsh_efa_set *set, const union wsh_efa_msg *msg, size_t len, const char *why)
{
    bool headed = len >= sizeof msg->head;

    return wsh_efa_set_fail(
        set, -EPROTO,
        "bad message over %s: %s (%zu bytes, version %d, type %d, from PE %d); all PEs must "
        "run the same build",
        set->rail[0].name, why, len, headed ? msg->head.version : -1, headed ? msg->head.type : -1,
        headed ? (int)msg->head.src : -1);
}

/*
 * Stores a message's bytes. A single word is stored whole, with release order (partner: the acquire load of the
 * program's wait on it); other data is only read after a later message's word has been seen.
 */
static void store_bytes(void *dst, const void *src, size_t len)
{
    wsh_order_returns();
    if (len == 8 && !((uintptr_t)dst & 7)) {
        uint64_t word;

        memcpy(&word, src, 8);
        __atomic_store_n((uint64_t *)dst, word, __ATOMIC_RELEASE);
    } else if (len == 4 && !((uintptr_t)dst & 3)) {
        uint32_t word;

        memcpy(&word, src, 4);
        __atomic_store_n((uint32_t *)dst, word, __ATOMIC_RELEASE);
    } else {
        __atomic_thread_fence(__ATOMIC_RELEASE); /* same partner, for shorter flags */
        memcpy(dst, src, len);
    }
}

static int apply_data(struct wsh_efa_set *set, const union wsh_efa_msg *msg,
                      const struct wsh_efa_target *target, const void *src, size_t len)
{
    void *dst = wsh_efa_wire_resolve(target, len, set->seg_base, set->seg_len);

    if (!dst)
        return refuse_msg(set, msg, msg->head.len, "data outside of the symmetric memory");
    store_bytes(dst, src, len);
    return 0;
}

static int apply_amo(struct wsh_efa_set *set, const union wsh_efa_msg *msg,
                     const struct wsh_efa_target *target, uint64_t operand, uint64_t compare, uint64_t *old)
{
    void *word = wsh_efa_wire_resolve(target, target->width, set->seg_base, set->seg_len);

    if (!word)
        return refuse_msg(set, msg, msg->head.len, "atomic outside of the symmetric memory");
    *old = wsh_amo_apply(word, target->op, target->width, operand, compare);
    return 0;
}

/* Release: as in store_bytes. */
static int apply_strided(struct wsh_efa_set *set, const union wsh_efa_msg *msg)
{
    const struct wsh_efa_strided_msg *blocks = &msg->strided;
    const struct wsh_strided shape = {(ptrdiff_t)blocks->stride, blocks->block, blocks->block,
                                      (msg->head.len - sizeof *blocks) / blocks->block};
    size_t span = blocks->stride * (shape.nelems - 1) + shape.block;
    void *dst = wsh_efa_wire_resolve(&blocks->data, span, set->seg_base, set->seg_len);
    uint64_t old;

    if (!dst)
        return refuse_msg(set, msg, msg->head.len, "data outside of the symmetric memory");
    wsh_order_returns();
    __atomic_thread_fence(__ATOMIC_RELEASE);
    wsh_efa_strided_copy(dst, blocks->bytes, &shape);
    return blocks->signal.width ? apply_amo(set, msg, &blocks->signal, blocks->value, 0, &old) : 0;
}

static int apply_signal(struct wsh_efa_set *set, const union wsh_efa_msg *msg)
{
    const struct wsh_efa_signal_msg *signal = &msg->signal;
    size_t len = signal->head.len - sizeof *signal;
    uint64_t old;
    int rc = len ? apply_data(set, msg, &signal->data, signal->bytes, len) : 0;

    return rc ? rc : apply_amo(set, msg, &signal->signal, signal->value, 0, &old);
}

static int apply_get(struct wsh_efa_set *set, const struct wsh_efa_get_msg *get)
{
    const union wsh_efa_msg *msg = (const union wsh_efa_msg *)get;
    const void *from = wsh_efa_wire_resolve(&get->data, get->len, set->seg_base, set->seg_len);

    if (!from || get->len > WSH_EFA_GET_MAX ||
        sizeof(struct wsh_efa_reply_msg) + get->len > set->peers[get->head.src].msg_max)
        return refuse_msg(set, msg, get->head.len, "get from outside of the symmetric memory");
    return wsh_efa_msg_answer(set, (int)get->head.src, get->head.ctx, get->cookie, from, get->len);
}

static int apply_fetch(struct wsh_efa_set *set, const struct wsh_efa_amo_msg *amo)
{
    uint64_t old = 0;
    int rc = apply_amo(set, (const union wsh_efa_msg *)amo, &amo->word, amo->operand, amo->compare, &old);

    return rc ? rc
              : wsh_efa_msg_answer(set, (int)amo->head.src, amo->head.ctx, amo->cookie, &old, sizeof old);
}

static int apply_ack_request(struct wsh_efa_set *set, const struct wsh_efa_count_msg *request)
{
    struct wsh_efa_rx_flow *rx_flow = wsh_efa_rx_flow_need(set, (int)request->head.src, request->ctx);

    if (!rx_flow)
        return -ENOMEM;
    wsh_efa_imm_count_requested(set, (int)request->head.src, request->counter_writes);
    wsh_efa_rx_flow_prompt(rx_flow, request->end);
    wsh_efa_msg_ack_later(set, rx_flow);
    return 0;
}

static int apply_msg(struct wsh_efa_set *set, const union wsh_efa_msg *msg)
{
    const struct wsh_efa_amo_msg *amo = &msg->amo;
    uint64_t old;

    switch (msg->head.type) {
    case WSH_EFA_WIRE_HELLO: set->hello.received++; return 0;
    case WSH_EFA_WIRE_PUT:
        return apply_data(set, msg, &msg->put.data, msg->put.bytes, msg->head.len - sizeof msg->put);
    case WSH_EFA_WIRE_STRIDED: return apply_strided(set, msg);
    case WSH_EFA_WIRE_SIGNAL: return apply_signal(set, msg);
    case WSH_EFA_WIRE_FETCH: return apply_fetch(set, amo);
    case WSH_EFA_WIRE_GET: return apply_get(set, &msg->get);
    case WSH_EFA_WIRE_ACK_REQUEST: return apply_ack_request(set, &msg->count);
    default: return apply_amo(set, msg, &amo->word, amo->operand, amo->compare, &old);
    }
}

/* Of a message whose receive has gone back already (keep_copy). */
static int held_done(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    if (req->pool)
        return wsh_efa_msg_post(set, req);
    free(req);
    return 0;
}

/* The receive goes back first, because an answer says that it may be used again. */
int wsh_efa_serve_apply(void *arg, void *held)
{
    struct wsh_efa_set *set = arg;
    struct wsh_efa_req *req = held;
    const union wsh_efa_msg *msg = (const union wsh_efa_msg *)req->buf;
    union wsh_efa_msg request;
    int rc;

    if (msg->head.type != WSH_EFA_WIRE_FETCH && msg->head.type != WSH_EFA_WIRE_GET) {
        rc = apply_msg(set, msg);
        return rc ? rc : held_done(set, req);
    }
    memcpy(&request, msg, msg->head.len);
    rc = held_done(set, req);
    return rc ? rc : apply_msg(set, &request);
}

/*
 * Where receives are fewer than credits, a message that waits for others gives its own back, by which they come.
 */
static int keep_copy(struct wsh_efa_set *set, struct wsh_efa_rx_flow *rx_flow, struct wsh_efa_req *req,
                     const struct wsh_srd_stamp *stamp)
{
    const union wsh_efa_msg *msg = (const union wsh_efa_msg *)req->buf;
    void **held = wsh_srd_rx_flow_held(&rx_flow->srd, stamp, req);
    struct wsh_efa_req *copy;

    if (!held)
        return 0;
    copy = calloc(1, sizeof *copy + msg->head.len);
    if (!copy)
        return -ENOMEM;
    copy->pe = req->pe;
    copy->buf = memcpy(copy + 1, msg, msg->head.len);
    *held = copy;
    return wsh_efa_msg_post(set, req);
}

static int serve_numbered(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    const union wsh_efa_msg *msg = (const union wsh_efa_msg *)req->buf;
    const struct wsh_efa_head head = msg->head;
    struct wsh_efa_rx_flow *rx_flow = wsh_efa_rx_flow_need(set, (int)head.src, head.ctx);
    int rc;

    if (rx_flow && wsh_unlikely(set->peers[head.src].n_rails > 1) &&
        wsh_srd_rx_flow_has(&rx_flow->srd, &head.stamp))
        return wsh_efa_msg_post(set, req); /* it came by another NIC before */
    rc = rx_flow ? wsh_srd_rx_flow_message(&rx_flow->srd, &head.stamp, req, &set->sink) : -ENOMEM;
    if (!rc && wsh_unlikely(set->limits.shared_rx))
        rc = keep_copy(set, rx_flow, req, &head.stamp);
    if (rc == -ESTALE) /* its source has failed */
        return wsh_efa_msg_post(set, req);
    if (rc == -EPROTO && !set->failed)
        return refuse_msg(set, msg, head.len, "number or group out of the window");
    if (rc)
        return rc == -ENOMEM ? wsh_efa_set_fail(set, rc, "no memory to serve PE %d", (int)head.src) : rc;
    if (!head.lazy)
        wsh_efa_rx_flow_prompt(rx_flow, wsh_srd_widen(rx_flow->srd.applied, head.stamp.seq) + 1);
    wsh_efa_msg_ack_later(set, rx_flow);
    return 0;
}

/* Immediate data has no room for a tag: what it cannot be is dropped; the keys of NICs guard the rest. */
int wsh_efa_serve_write(struct wsh_efa_set *set, uint64_t data)
{
    const struct wsh_srd_imm imm = wsh_srd_imm_unpack((uint32_t)data);
    int known = set->imm && imm.pe < (uint32_t)set->n_pes ? wsh_efa_peer_accept(set, (int)imm.pe) : 0;
    struct wsh_efa_rx_flow *rx_flow = NULL;
    int rc = -EPROTO;

    if (wsh_unlikely(known < 0))
        return known;
    if (known && imm.by_counter) {
        rc = wsh_efa_imm_count_add(set, &imm);
    } else if (known) {
        rx_flow = wsh_efa_rx_flow_need(set, (int)imm.pe, imm.ctx);
        rc = rx_flow ? wsh_srd_rx_flow_write(&rx_flow->srd, imm.group, &set->sink) : -ENOMEM;
    }

    if (rc == -ESTALE)
        return 0;
    if (rc == -EPROTO && !set->failed) {
        wsh_efa_foreign_note(set, WSH_EFA_FOREIGN_WRITE);
        return 0;
    }
    if (rc == -ENOMEM)
        return wsh_efa_set_fail(set, rc, "no memory to count writes of PE %u", imm.pe);
    if (!rc && rx_flow)
        wsh_efa_msg_ack_later(set, rx_flow);
    return rc;
}

static int serve_reply(struct wsh_efa_set *set, const struct wsh_efa_reply_msg *msg)
{
    bool again = set->peers[msg->head.src].n_rails > 1; /* it may have come by another NIC before */

    if (wsh_efa_fetch_answered(set, (int)msg->head.src, msg->cookie, msg->bytes,
                               msg->head.len - sizeof *msg) &&
        !again)
        return refuse_msg(set, (const union wsh_efa_msg *)msg, msg->head.len, "answer to no question");
    return 0;
}

int wsh_efa_serve_message(struct wsh_efa_set *set, struct wsh_efa_req *req, size_t len)
{
    const union wsh_efa_msg *msg = (const union wsh_efa_msg *)req->buf;
    int src = wsh_efa_wire_src(msg, len, set->n_pes), rc = 0;
    int known = src < 0 ? 0 : wsh_efa_peer_knows(set, src, msg->head.tag);
    const char *why;

    if (wsh_unlikely(known <= 0)) {
        if (known < 0)
            return known;
        wsh_efa_foreign_note(set, WSH_EFA_FOREIGN_MESSAGE);
        return wsh_efa_msg_post(set, req);
    }
    why = wsh_efa_wire_check(msg, len);
    if (why)
        return refuse_msg(set, msg, len, why);
    set->peers[src].heard = true;
    if (wsh_unlikely(msg->head.lost) && set->n_rails > 1)
        wsh_efa_rails_noticed(set, src, msg->head.lost);
    if (wsh_efa_flow_acked(set, src, &msg->head))
        return refuse_msg(set, msg, len, "acknowledges more than was sent");
    if (msg->head.type == WSH_EFA_WIRE_COUNTED &&
        wsh_efa_imm_count_acked(set, src, msg->count.counter_writes))
        return refuse_msg(set, msg, len, "has counted more than was sent");
    if (msg->head.type == WSH_EFA_WIRE_REPLY)
        rc = serve_reply(set, &msg->reply);
    else if (msg->head.type < WSH_EFA_WIRE_REPLY)
        return serve_numbered(set, req);
    return rc ? rc : wsh_efa_msg_post(set, req);
}
