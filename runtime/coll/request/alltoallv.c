/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv. Each member tells each other how much it has for it, and short blocks come with that, into an eager
 * buffer; for a longer one the target says where it belongs, and it is written there.
 */
#include "runtime/coll/request/phases.h"

#include "base/log.h"
#include "runtime/coll/request/send.h"

#include <stdint.h>

#define VALUE_BITS 48
#define VALUE_MASK ((UINT64_C(1) << VALUE_BITS) - 1)
#define REFUSED VALUE_MASK /* in place of an offset */

/* The word or eager buffer of this exchange that member `from` writes here; tables of words, then eager buffers. */
static size_t table_at(const struct wsh_req *req, int table, int from)
{
    const struct wsh_sync_area *area = &req->team->coll->area;

    return area->exchange + (req->exchange & 1) * area->exchange_len +
           ((size_t)table * (size_t)req->team->n_pes + (size_t)from) * sizeof(uint64_t);
}

static size_t count_at(const struct wsh_req *req, int from)
{
    return table_at(req, 0, from);
}

static size_t offset_at(const struct wsh_req *req, int from)
{
    return table_at(req, 1, from);
}

static size_t eager_at(const struct wsh_req *req, int from)
{
    return table_at(req, 2, 0) + (size_t)from * req->team->coll->area.exchange_eager;
}

/* Never 0, which a word is until it is written. */
static uint64_t word_of(const struct wsh_req *req, uint64_t value)
{
    return (req->exchange % 0xffff + 1) << VALUE_BITS | value;
}

static int word_take(const struct wsh_req *req, size_t off, uint64_t *value)
{
    uint64_t word = wsh_req_load(req, off);

    if (word >> VALUE_BITS != word_of(req, 0) >> VALUE_BITS)
        return -EAGAIN;
    *value = word & VALUE_MASK;
    return 0;
}

/* What has been read is not taken for a later exchange's. Its writer comes again once this one is complete here. */
static void word_clear(const struct wsh_req *req, size_t off)
{
    __atomic_store_n((uint64_t *)(req->team->coll->base + off), 0, __ATOMIC_RELAXED);
}

/* Both sides give the same answer. In the same memory a long block's offset is known sooner than it is copied twice. */
static bool goes_eagerly(const struct wsh_req *req, int member, size_t len)
{
    const struct wsh_coll *coll = req->team->coll;
    bool near = coll->domain[member] == coll->my_domain;

    return len <= (near ? coll->area.exchange_near : coll->area.exchange_eager);
}

static size_t given_len(const struct wsh_req *req, int member)
{
    return req->args.v.counts[member] * req->args.v.width;
}

static size_t taken_len(const struct wsh_req *req, int member)
{
    return req->args.v.dest_counts[member] * req->args.v.width;
}

static const char *given_block(const struct wsh_req *req, int member)
{
    return (const char *)req->args.src + req->args.v.offsets[member] * req->args.v.width;
}

static char *taken_block(const struct wsh_req *req, int member)
{
    return (char *)req->args.dest + req->args.v.dest_offsets[member] * req->args.v.width;
}

static int counts_tell(struct wsh_req *req)
{
    int me = req->team->my_pe, n = req->team->n_pes, rc = 0;

    for (; req->k < n - 1 && !rc; req->k += !rc) {
        int member = wsh_req_behind(req, req->k + 1);
        size_t len = given_len(req, member);
        const struct wsh_req_block block = {req->team->coll->base + eager_at(req, me),
                                            given_block(req, member),
                                            goes_eagerly(req, member, len) ? len : 0};

        rc = wsh_req_set(req, &block, count_at(req, me), word_of(req, len), member);
    }
    return rc;
}

/* To those whose blocks do not come eagerly. */
static int offsets_tell(struct wsh_req *req)
{
    static const struct wsh_req_block nothing = {0};
    int me = req->team->my_pe, n = req->team->n_pes, rc = 0;

    for (; req->k < n - 1 && !rc; req->k += !rc) {
        int member = wsh_req_behind(req, req->k + 1);
        uint64_t offset =
            req->refuses ? REFUSED : (uint64_t)(taken_block(req, member) - (char *)req->args.dest);

        if (goes_eagerly(req, member, taken_len(req, member)))
            continue;
        rc = wsh_req_set(req, &nothing, offset_at(req, me), word_of(req, offset), member);
        req->direct += !rc && !req->refuses;
    }
    return rc;
}

static int counts_differ(const struct wsh_req *req, int member, size_t len)
{
    wsh_error(
        "%s: PE %d of the team has %zu bytes for PE %d, whose dest_counts says %zu; both sides give the same "
        "count",
        req->routine, member, len, req->team->my_pe, taken_len(req, member));
    return -EINVAL;
}

/* My own block, which nobody has to tell me of. */
static int own_copy(struct wsh_req *req)
{
    int me = req->team->my_pe;
    size_t len = given_len(req, me);

    if (req->refuses)
        return 0;
    if (len != taken_len(req, me))
        return counts_differ(req, me, len);
    return wsh_req_copy(req, taken_block(req, me), given_block(req, me), len);
}

static int eager_copy(struct wsh_req *req, int member)
{
    size_t len = taken_len(req, member);

    if (member == req->team->my_pe || !goes_eagerly(req, member, len))
        return 0;
    return wsh_req_copy(req, taken_block(req, member), req->team->coll->base + eager_at(req, member), len);
}

/* What a member has for me. Where its offset is known, its block is copied while others are still under way. */
static int count_take(struct wsh_req *req, int member)
{
    struct wsh_alltoallv *v = &req->args.v;
    uint64_t len = given_len(req, member);
    int rc = member == req->team->my_pe ? 0 : word_take(req, count_at(req, member), &len);

    if (rc)
        return rc;
    if (v->packed)
        v->dest_counts[member] = len / v->width;
    else if (len != taken_len(req, member))
        return counts_differ(req, member, len);
    else
        return eager_copy(req, member);
    return 0;
}

static int counts_take(struct wsh_req *req)
{
    int n = req->team->n_pes;

    for (; req->k < n; req->k++) {
        int rc = count_take(req, wsh_req_behind(req, req->k + 1));

        if (rc)
            return rc;
    }
    for (int member = 0; member < n; member++)
        word_clear(req, count_at(req, member));
    return 0;
}

static size_t add_most(size_t a, size_t b)
{
    size_t sum;

    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

/* In order of the members. An offset or end beyond what a size_t holds is SIZE_MAX, and does not fit either. */
static int offsets_pack(struct wsh_req *req)
{
    struct wsh_alltoallv *v = &req->args.v;
    size_t end = 0, align = v->align ? v->align : 1;

    for (int member = 0; member < req->team->n_pes; member++) {
        v->dest_offsets[member] = add_most(end, end % align ? align - end % align : 0);
        end = add_most(v->dest_offsets[member], v->dest_counts[member]);
    }
    *v->need = end;
    req->refuses = end > v->dest_max;
    return 0;
}

static int eager_copy_all(struct wsh_req *req)
{
    int rc = 0;

    for (; req->k < req->team->n_pes && !req->refuses && !rc; req->k += !rc)
        rc = eager_copy(req, wsh_req_behind(req, req->k));
    return rc;
}

/* A target that refuses is left out; it alone says so. */
static int blocks_write(struct wsh_req *req)
{
    int n = req->team->n_pes, rc = 0;

    for (; req->k < n - 1 && !rc; req->k += !rc) {
        int member = wsh_req_behind(req, req->k + 1);
        size_t len = given_len(req, member);
        struct wsh_req_block block = {NULL, given_block(req, member), len};
        uint64_t offset;

        if (goes_eagerly(req, member, len))
            continue;
        rc = word_take(req, offset_at(req, member), &offset);
        block.dest = (char *)req->args.dest + (rc ? 0 : offset);
        if (!rc && offset != REFUSED)
            rc = wsh_req_count(req, &block, WSH_REQ_DATA, member);
        if (!rc)
            word_clear(req, offset_at(req, member));
    }
    return rc;
}

static int blocks_take(struct wsh_req *req)
{
    return wsh_req_arrived(req, WSH_REQ_DATA, req->direct);
}

static int exchange_end(struct wsh_req *req)
{
    int rc = wsh_req_is_sent(req);

    if (!rc && req->refuses)
        req->status = 1;
    return rc;
}

/* Places first: what is written there takes longest. */
const struct wsh_req_steps wsh_req_alltoallv = {
    (wsh_req_phase *const[]){offsets_tell, counts_tell, own_copy, blocks_write, counts_take, blocks_take,
                             exchange_end, NULL},
    true,
};

const struct wsh_req_steps wsh_req_alltoallv_packed = {
    (wsh_req_phase *const[]){counts_tell, counts_take, offsets_pack, offsets_tell, own_copy, eager_copy_all,
                             blocks_write, blocks_take, exchange_end, NULL},
    true,
};
