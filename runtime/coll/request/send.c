/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends blocks with the words that announce them, by one try of a transport each. */
#include "runtime/coll/request/send.h"

#include "runtime/op/amo.h"
#include "runtime/op/op.h"
#include "runtime/op/rma.h"
#include "runtime/op/signal.h"
#include "runtime/op/start.h"

#include <string.h>

static struct wsh_ctx *ctx_of(const struct wsh_req *req)
{
    return &req->team->job->requests->ctx;
}

/* Without data. */
static int word_send(struct wsh_req *req, const struct wsh_signal *signal, int pe)
{
    const struct wsh_amo amo = {signal->op, 8, signal->value, 0};
    struct wsh_target at;
    int rc = wsh_op_target(ctx_of(req), signal->sym, 8, pe, &at);

    return rc ? rc : wsh_amo_start(ctx_of(req), &at, &amo, NULL, &req->done);
}

/* Where data and word go by different transports it waits for the data: those of a GPU, by staging or by NICs. */
static int block_send(struct wsh_req *req, const struct wsh_req_block *block, const struct wsh_signal *signal,
                      int member)
{
    struct wsh_ctx *ctx = ctx_of(req);
    int pe = req->team->members[member], rc;
    struct wsh_target at, to;

    if (!block->len)
        return word_send(req, signal, pe);
    rc = wsh_op_target(ctx, signal->sym, 8, pe, &at);
    if (!rc)
        rc = wsh_op_target_with(ctx, block->dest, block->len, pe, block->src, &to);
    if (!rc)
        rc = wsh_put_signal_start(ctx, &to, &at, block->src, block->len, signal, &req->done);
    if (rc != -EXDEV)
        return rc;
    return wsh_put_signal_counted(ctx, block->dest, block->src, block->len, signal, pe, &req->done);
}

int wsh_req_set(struct wsh_req *req, const struct wsh_req_block *block, size_t off, uint64_t value,
                int member)
{
    const struct wsh_signal signal = wsh_coll_word(req->team->coll, off, value);

    return block_send(req, block, &signal, member);
}

int wsh_req_count(struct wsh_req *req, const struct wsh_req_block *block, int counter, int member)
{
    const size_t off = wsh_req_counter(req, counter);
    const struct wsh_signal signal = {(uint64_t *)(req->team->coll->base + off), 1, WSH_AMO_ADD, 0};

    if (wsh_req_has_words(req))
        return wsh_req_set(req, block, wsh_req_word(req, counter, req->team->my_pe), req->number, member);
    return block_send(req, block, &signal, member);
}

int wsh_req_lose(struct wsh_req *req, int counter, int member)
{
    static const struct wsh_req_block nothing = {0};
    const size_t off = wsh_req_counter(req, counter);
    const struct wsh_signal signal = {(uint64_t *)(req->team->coll->base + off), WSH_REQ_LOST + 1,
                                      WSH_AMO_ADD, 0};

    if (wsh_req_has_words(req))
        return wsh_req_set(req, &nothing, wsh_req_word(req, counter, req->team->my_pe),
                           req->number | WSH_REQ_LOST, member);
    return block_send(req, &nothing, &signal, member);
}

/* At most a number. */
static void number_copy(void *dest, const void *src, size_t len)
{
    if (len == sizeof(uint64_t))
        memcpy(dest, src, sizeof(uint64_t));
    else
        memcpy(dest, src, len);
}

/* At `off` of another member's sync area, as it is mapped here; NULL: it is not, or this team has no such words. */
static uint64_t *word_at(const struct wsh_req *req, size_t off, int member)
{
    char *area = wsh_req_has_words(req) ? wsh_coll_peer(req->team, member) : NULL;

    return area ? (uint64_t *)(area + off) : NULL;
}

/* Release: the data of the cell. Partner: wsh_req_load. */
static int word_set(uint64_t *word, uint64_t number)
{
    __atomic_store_n(word, number, __ATOMIC_RELEASE);
    return 0;
}

int wsh_req_come(struct wsh_req *req, int counter, int member)
{
    static const struct wsh_req_block nothing = {0};
    uint64_t *word = word_at(req, wsh_req_word(req, counter, req->team->my_pe), member);

    return word ? word_set(word, req->number) : wsh_req_count(req, &nothing, counter, member);
}

bool wsh_req_fits_cells(const struct wsh_req *req)
{
    return req->args.len <= sizeof(uint64_t) && wsh_req_has_words(req) &&
           wsh_coll_is_host(req->team, req->args.dest);
}

int wsh_req_send_block(struct wsh_req *req, const struct wsh_req_block *block, int member)
{
    const size_t at = wsh_req_cell(req, req->team->my_pe);
    uint64_t *cell = req->cells ? word_at(req, at, member) : NULL;
    struct wsh_req_block its = *block;

    if (cell && wsh_coll_is_host(req->team, block->src)) {
        if (!((uintptr_t)cell % WSH_SYNC_AREA_LINE)) /* the next one, where more requests are begun */
            wsh_cpu_will_write(cell + WSH_SYNC_AREA_LINE / sizeof *cell);
        number_copy(cell, block->src, block->len);
        return word_set(cell + 1, req->number);
    }
    if (req->cells)
        its.dest = req->team->coll->base + at;
    return wsh_req_count(req, &its, WSH_REQ_DATA, member);
}

void wsh_req_take_block(const struct wsh_req *req, void *dest, int member)
{
    if (req->cells)
        number_copy(dest, req->team->coll->base + wsh_req_cell(req, member), req->args.len);
}

int wsh_req_show(struct wsh_req *req, const struct wsh_req_block *block, int line, int word, int member)
{
    return wsh_req_set(req, block, wsh_req_flag(req, line, word), req->number, member);
}

int wsh_req_strided(struct wsh_req *req, void *dest, const void *src, const struct wsh_strided *shape,
                    size_t *taken, int member)
{
    struct wsh_target to;
    int rc = wsh_op_target_with(ctx_of(req), dest, wsh_strided_span(shape, shape->dst_stride),
                                req->team->members[member], src, &to);

    return rc ? rc : wsh_iput_start(ctx_of(req), &to, src, shape, taken, &req->done);
}

int wsh_req_fence(struct wsh_req *req)
{
    return wsh_fence(ctx_of(req));
}

int wsh_req_fetch(struct wsh_req *req, const void *sym, size_t len, void *scratch, const void **data,
                  int member)
{
    struct wsh_target to;
    int rc;

    *data = wsh_coll_map(req->team, sym, len, member);
    if (*data)
        return 0;
    *data = scratch;
    rc = wsh_op_target(ctx_of(req), sym, len, req->team->members[member], &to);
    return rc ? rc : wsh_get_start(ctx_of(req), &to, scratch, len, &req->done);
}

int wsh_req_copy(struct wsh_req *req, void *dest, const void *src, size_t len)
{
    if (dest == src || !len)
        return 0;
    if (wsh_coll_is_host(req->team, dest) && wsh_coll_is_host(req->team, src)) {
        memcpy(dest, src, len);
        return 0;
    }
    return wsh_put_counted(ctx_of(req), dest, src, len, req->team->job->my_pe, &req->done);
}
