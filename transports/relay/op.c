/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows how an operation becomes messages. One that does not fit is parked, at most one for each PE: what is asked
 * later finds no room until all of it has gone.
 */
#include "transports/relay/relay.h"

#include "base/cuda_mem.h"

#include <stdio.h>
#include <stdlib.h>

static size_t part_max(const struct relay *relay)
{
    unsigned places = relay->places / 4 < RELAY_MESSAGE_MAX ? relay->places / 4 : RELAY_MESSAGE_MAX;

    return (size_t)places * RELAY_PLACE - sizeof(struct relay_head);
}

/* As much as there is room for. 0: all of it; -EAGAIN: not all. */
static int push(struct relay *relay, struct relay_peer *peer, struct relay_ask *ask)
{
    while (ask->at < ask->len) {
        size_t left = ask->len - ask->at, len = left < part_max(relay) ? left : part_max(relay);
        int rc = relay_out_add(relay, peer, ask, len);

        if (rc)
            return rc;
        ask->at += len;
    }
    return 0;
}

static void park(struct relay_peer *peer, const struct relay_ask *ask)
{
    peer->parked = *ask;
    peer->is_parked = true;
    relay_owe(ask->done);
    ask->ctx->n++;
    ask->ctx->pending[peer->pe]++;
}

int relay_unpark(struct relay *relay, struct relay_peer *peer)
{
    struct relay_ask *ask = &peer->parked;
    size_t before = ask->at;
    int rc = push(relay, peer, ask);

    if (rc)
        return rc == -EAGAIN ? ask->at != before : rc;
    peer->is_parked = false;
    relay_done(ask->done);
    relay_settle(ask->ctx, peer->pe);
    return 1;
}

static int begin(struct relay *relay, struct relay_peer *peer, struct relay_ask *ask)
{
    int rc;

    if (!peer->out)
        peer->out = calloc(relay->places, sizeof *peer->out);
    if (!peer->out)
        return -ENOMEM;
    rc = peer->is_parked ? -EAGAIN : push(relay, peer, ask);
    if (rc == -EAGAIN && ask->at) {
        park(peer, ask);
        rc = 0;
    }
    return rc;
}

/* What has just been built is sent at once; and what has been freed meanwhile may be what is lacking. */
static int start(const struct wsh_rmem *rmem, struct relay_ask *ask)
{
    struct relay *relay = ask->ctx->relay;
    struct relay_peer *peer = &relay->peers[rmem->pe];
    int rc, moved;

    pthread_mutex_lock(&relay->lock);
    rc = begin(relay, peer, ask);
    moved = !rc || rc == -EAGAIN ? relay_out_progress(relay, peer) : 0;
    pthread_mutex_unlock(&relay->lock);
    return moved < 0 ? moved : rc;
}

/* Memory that the program has allocated by itself counts too. */
static bool is_on_gpu(struct wsh_tctx *tctx, const void *local)
{
    return wsh_gpu_may_hold(((struct relay_ctx *)tctx)->relay->device, local);
}

static struct relay_ask ask_for(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off,
                                enum relay_kind kind, struct wsh_done *done)
{
    return (struct relay_ask){
        .kind = kind, .ctx = (struct relay_ctx *)tctx, .done = done, .seg = rmem->seg, .off = off};
}

int relay_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
              struct wsh_done *done)
{
    struct relay_ask ask = ask_for(tctx, rmem, off, RELAY_PUT, done);

    ask.local = (char *)src;
    ask.len = len;
    ask.on_gpu = len && is_on_gpu(tctx, src);
    return len ? start(rmem, &ask) : 0;
}

int relay_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
              struct wsh_done *done)
{
    struct relay_ask ask = ask_for(tctx, rmem, off, RELAY_GET, done);

    ask.local = dst;
    ask.len = len;
    ask.on_gpu = len && is_on_gpu(tctx, dst);
    return len ? start(rmem, &ask) : 0;
}

int relay_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
              void *result, struct wsh_done *done)
{
    struct relay_ask ask = ask_for(tctx, rmem, off, result ? RELAY_FETCH : RELAY_AMO, result ? done : NULL);

    ask.local = result;
    ask.len = ask.width = (uint8_t)amo->width;
    ask.op = (uint8_t)amo->op;
    ask.value = amo->operand;
    ask.compare = amo->compare;
    return start(rmem, &ask);
}

int relay_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                     size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    struct relay_ask ask = ask_for(tctx, rmem, off, RELAY_SIGNAL, done);
    const struct wsh_amo amo = {sig->op, 8, sig->value, 0};

    if (!len)
        return relay_amo(tctx, sig->rmem, sig->off, &amo, NULL, NULL);
    ask.local = (char *)src;
    ask.len = len;
    ask.on_gpu = is_on_gpu(tctx, src);
    ask.op = (uint8_t)sig->op;
    ask.value = sig->value;
    ask.signal_seg = sig->rmem->seg;
    ask.signal_off = sig->off;
    return start(rmem, &ask);
}

int relay_signal_behind(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *done,
                        struct wsh_done **gate)
{
    struct relay_ask ask = ask_for(tctx, sig->rmem, sig->off, RELAY_AMO, NULL);
    struct relay *relay = ask.ctx->relay;
    struct relay_peer *peer = &relay->peers[sig->rmem->pe];
    int rc, moved;

    ask.len = ask.width = 8;
    ask.op = (uint8_t)sig->op;
    ask.value = sig->value;
    pthread_mutex_lock(&relay->lock);
    rc = begin(relay, peer, &ask);
    moved = rc == -EAGAIN ? relay_out_progress(relay, peer) : 0;
    if (!rc)
        *gate = relay_out_hold(relay, peer, done);
    pthread_mutex_unlock(&relay->lock);
    return moved < 0 ? moved : rc;
}

void relay_signal_go(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *gate, bool started)
{
    struct relay *relay = ((struct relay_ctx *)tctx)->relay;

    pthread_mutex_lock(&relay->lock);
    if (!started)
        relay_out_drop(relay, &relay->peers[sig->rmem->pe], gate);
    relay_done(gate);
    pthread_mutex_unlock(&relay->lock);
}

size_t relay_pending(struct wsh_tctx *tctx, int pe)
{
    struct relay_ctx *ctx = (struct relay_ctx *)tctx;
    size_t n;

    pthread_mutex_lock(&ctx->relay->lock);
    n = pe < 0 ? ctx->n : ctx->pending[pe];
    pthread_mutex_unlock(&ctx->relay->lock);
    return n;
}

static void count(const struct relay *relay, const struct relay_peer *peer, const struct relay_ctx *ctx,
                  unsigned *n)
{
    const char *places = peer->box + relay_out(relay->places);

    for (uint64_t pos = peer->tail; peer->out && pos != peer->head;) {
        size_t index = (size_t)(pos % relay->places);
        struct relay_head head;

        memcpy(&head, places + index * RELAY_PLACE, sizeof head);
        if (peer->out[index].ctx == ctx && head.kind < RELAY_KINDS)
            n[head.kind]++;
        pos += peer->out[index].places;
    }
    if (peer->is_parked && peer->parked.ctx == ctx)
        n[peer->parked.kind]++;
}

static void describe_peer(const struct relay *relay, const struct relay_peer *peer,
                          const struct relay_ctx *ctx, char *text, size_t size)
{
    static const char *const names[RELAY_KINDS] = {[RELAY_PUT] = "put",
                                                   [RELAY_SIGNAL] = "put with signal",
                                                   [RELAY_GET] = "get",
                                                   [RELAY_AMO] = "atomic",
                                                   [RELAY_FETCH] = "fetching atomic"};
    unsigned n[RELAY_KINDS] = {0};
    size_t used = strlen(text);
    const char *separator = "";

    count(relay, peer, ctx, n);
    if (used < size)
        snprintf(text + used, size - used, "%sPE %d: ", used && text[used - 1] != ' ' ? "; " : "", peer->pe);
    for (int kind = RELAY_PUT; kind < RELAY_KINDS; kind++) {
        used = strlen(text);
        if (!n[kind] || used >= size)
            continue;
        snprintf(text + used, size - used, "%s%u %s%s", separator, n[kind], names[kind],
                 n[kind] > 1 ? "s" : "");
        separator = ", ";
    }
}

void relay_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    struct relay_ctx *ctx = (struct relay_ctx *)tctx;
    struct relay *relay = ctx->relay;

    pthread_mutex_lock(&relay->lock);
    for (int pe = 0; pe < relay->n_pes; pe++)
        if (ctx->pending[pe])
            describe_peer(relay, &relay->peers[pe], ctx, text, size);
    pthread_mutex_unlock(&relay->lock);
}
