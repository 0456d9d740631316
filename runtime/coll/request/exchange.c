/* SPDX-License-Identifier: BSD-3-Clause */
/* Alltoall: a block to each member, beginning behind this one, so that no member is the first target of all. */
#include "runtime/coll/request/phases.h"

#include "runtime/coll/request/send.h"

static int blocks_push(struct wsh_req *req)
{
    const struct wsh_req_args *args = &req->args;
    char *dest = (char *)args->dest + (size_t)req->team->my_pe * args->len;
    int n = req->team->n_pes, rc = 0;

    if (!req->k)
        req->cells = wsh_req_fits_cells(req);
    for (; req->k < n - 1 && !rc; req->k += !rc) {
        int member = wsh_req_behind(req, req->k + 1);
        const struct wsh_req_block block = {dest, (const char *)args->src + (size_t)member * args->len,
                                            args->len};

        rc = wsh_req_send_block(req, &block, member);
    }
    return rc;
}

static int blocks_own(struct wsh_req *req)
{
    size_t at = (size_t)req->team->my_pe * req->args.len;

    return wsh_req_copy(req, (char *)req->args.dest + at, (const char *)req->args.src + at, req->args.len);
}

static int blocks_take(struct wsh_req *req)
{
    int n = req->team->n_pes, rc = wsh_req_all_arrived(req, WSH_REQ_DATA, (uint64_t)n - 1);

    for (int k = 1; !rc && k < n; k++) {
        int member = wsh_req_behind(req, k);

        wsh_req_take_block(req, (char *)req->args.dest + (size_t)member * req->args.len, member);
    }
    return rc;
}

const struct wsh_req_steps wsh_req_alltoall = {
    (wsh_req_phase *const[]){blocks_push, blocks_own, blocks_take, wsh_req_sent_phase, NULL},
    true,
};

/* My own block too. */
static int strided_push(struct wsh_req *req)
{
    const struct wsh_alltoalls *shape = &req->args.shape;
    size_t width = shape->width, block = shape->nelems * width;
    const struct wsh_strided strided = {shape->dst * (ptrdiff_t)width, shape->sst * (ptrdiff_t)width, width,
                                        shape->nelems};
    char *dest = (char *)req->args.dest + (size_t)req->team->my_pe * block * (size_t)shape->dst;
    int rc = 0;

    for (; req->k < req->team->n_pes && !rc; req->k += !rc) {
        int member = wsh_req_behind(req, req->k + 1);
        const char *src = (const char *)req->args.src + (size_t)member * block * (size_t)shape->sst;

        rc = wsh_req_strided(req, dest, src, &strided, &req->at, member);
        if (!rc)
            req->at = 0;
    }
    return rc ? rc : wsh_req_fence(req);
}

static int strided_tell(struct wsh_req *req)
{
    static const struct wsh_req_block nothing = {0};
    int rc = 0;

    for (; req->k < req->team->n_pes - 1 && !rc; req->k += !rc)
        rc = wsh_req_count(req, &nothing, WSH_REQ_DATA, wsh_req_behind(req, req->k + 1));
    return rc;
}

static int strided_take(struct wsh_req *req)
{
    return wsh_req_all_arrived(req, WSH_REQ_DATA, (uint64_t)req->team->n_pes - 1);
}

const struct wsh_req_steps wsh_req_alltoalls = {
    (wsh_req_phase *const[]){strided_push, strided_tell, strided_take, wsh_req_sent_phase, NULL},
    true,
};
