/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes records. PE, segment and offset are found as for calls of the host, and the transport is called once; a
 * record for which it has no room is retried later. The executor waits only where data and signal use different
 * transports.
 */
#include "runtime/gpu/proxy/exec.h"

#include "runtime/op/amo.h"
#include "base/log.h"
#include "runtime/gpu/gda/gda.h"
#include "runtime/gpu/segments.h"
#include "runtime/gpu/proxy/record.h"
#include "runtime/job/job.h"
#include "runtime/op/op.h"
#include "runtime/op/rma.h"
#include "runtime/op/start.h"
#include "runtime/op/signal.h"

static void *address_of(uint64_t sym)
{
    return (void *)(uintptr_t)sym;
}

static bool is_strided(const struct wsh_ring_request *request)
{
    return request->kind == WSH_RING_IPUT || request->kind == WSH_RING_IGET;
}

/* Bytes at the PE from the first one touched to the last; the consumer has looked at the numbers. */
static size_t request_extent(const struct wsh_ring_request *request)
{
    size_t width = (size_t)1 << request->op;

    return is_strided(request) ? (request->len / width - 1) * request->value + width : request->len;
}

/* -ERANGE and -EFAULT have not been logged yet. */
static int log_why(const struct wsh_ctx *ctx, const struct wsh_ring_request *request, int rc)
{
    char text[256];

    if (rc != -ERANGE && rc != -EFAULT)
        return rc;
    wsh_route_explain(ctx->job, address_of(request->sym), request_extent(request), request->pe, text,
                      sizeof text);
    wsh_error("an operation of device code that the proxy executes: %s", text);
    return rc;
}

static int start_amo(struct wsh_ctx *ctx, const struct wsh_target *to, const struct wsh_ring_request *request,
                     struct wsh_done *done)
{
    const struct wsh_amo amo = {request->op, (unsigned)request->len, request->value, request->compare};

    if ((amo.width != 4 && amo.width != 8) || to->off & (amo.width - 1))
        return -EFAULT;
    return wsh_amo_start(ctx, to, &amo, request->answer ? request->payload : NULL, done);
}

static int start_put_signal(struct wsh_ctx *ctx, const struct wsh_target *to,
                            const struct wsh_ring_request *request, struct wsh_done *done)
{
    struct wsh_signal signal = {address_of(request->second), request->value, request->op, 0};
    struct wsh_target at;
    int rc = wsh_counters_recognize(ctx->job, to, &signal);

    if (!rc)
        rc = wsh_op_target(ctx, signal.sym, sizeof *signal.sym, request->pe, &at);

    if (rc || at.off & 7)
        return rc ? rc : -EFAULT;
    rc = wsh_put_signal_start(ctx, to, &at, request->payload, request->len, &signal, done);
    return rc == -EXDEV ? wsh_put_signal(ctx, address_of(request->sym), request->payload, request->len,
                                         &signal, request->pe)
                        : rc;
}

static int start_strided(struct wsh_ctx *ctx, const struct wsh_target *to,
                         const struct wsh_ring_request *request, struct wsh_done *done)
{
    size_t width = (size_t)1 << request->op;
    bool put = request->kind == WSH_RING_IPUT;
    ptrdiff_t there = (ptrdiff_t)request->value, here = (ptrdiff_t)width;
    const struct wsh_strided shape = {put ? there : here, put ? here : there, width, request->len / width};

    return put ? wsh_iput_start(ctx, to, request->payload, &shape, request->taken, done)
               : wsh_iget_start(ctx, to, request->payload, &shape, request->taken, done);
}

static int start_there(struct wsh_ctx *ctx, const struct wsh_target *to,
                       const struct wsh_ring_request *request, struct wsh_done *done)
{
    switch (request->kind) {
    case WSH_RING_PUT:
    case WSH_RING_PUT_ZERO_COPY:
    case WSH_RING_PUT_WORD: return wsh_put_start(ctx, to, request->payload, request->len, done);
    case WSH_RING_GET:
    case WSH_RING_GET_ZERO_COPY:
    case WSH_RING_GET_WORD: return wsh_get_start(ctx, to, request->payload, request->len, done);
    case WSH_RING_AMO: return start_amo(ctx, to, request, done);
    case WSH_RING_IPUT:
    case WSH_RING_IGET: return start_strided(ctx, to, request, done);
    default: return start_put_signal(ctx, to, request, done);
    }
}

/* Checks the local address: a damaged record must not send a NIC anywhere. 0 or a logged error. */
static int check_local(const struct wsh_job *job, const struct wsh_ring_request *request)
{
    size_t off;
    int seg = wsh_heap_find(&job->heap, request->payload, request->len, &off);

    if (seg < 0)
        seg = wsh_ranges_find(job->device.local, request->payload, request->len);
    if (seg >= 0 && wsh_segment_is_zero_copy(job, seg))
        return 0;
    wsh_error(
        "zero-copy put or get of device code: %zu bytes at %p, in no memory that the proxy may use; keep a "
        "buffer registered until what uses it is complete, and look for kernels that write out of bounds",
        request->len, request->payload);
    return -EINVAL;
}

/* The payload in a record is host memory. */
static int request_target(struct wsh_ctx *ctx, const struct wsh_ring_request *request, struct wsh_target *to)
{
    void *sym = address_of(request->sym),
         *local = wsh_record_is_zero_copy(request->kind) ? request->payload : NULL;

    return request->kind == WSH_RING_AMO
               ? wsh_op_target(ctx, sym, request_extent(request), request->pe, to)
               : wsh_op_target_with(ctx, sym, request_extent(request), request->pe, local, to);
}

static int request_start(void *arg, const struct wsh_ring_request *request, struct wsh_done *done)
{
    struct wsh_ctx *ctx = arg;
    struct wsh_target to;
    int rc = wsh_record_is_zero_copy(request->kind) ? check_local(ctx->job, request) : 0;

    if (rc)
        return rc;
    rc = request_target(ctx, request, &to);
    if (!rc)
        rc = start_there(ctx, &to, request, done);
    return rc && rc != -EAGAIN ? log_why(ctx, request, rc) : rc;
}

/* Requests that kernels posted to NICs before the fence are completed first. */
static int ctx_fence(void *arg)
{
    struct wsh_ctx *ctx = arg;
    int rc = wsh_gda_quiet_try(ctx->job, ctx->posted);

    return rc ? rc : wsh_fence(ctx);
}

static size_t ctx_pending(void *arg, bool sources, bool awaited)
{
    return !wsh_order_is_over(arg, sources, awaited);
}

static int ctx_batch(void *arg, bool begin)
{
    if (!begin)
        return wsh_together_end(arg);
    wsh_together_begin(arg);
    return 0;
}

const struct wsh_consumer_ops wsh_proxy_exec_ops = {request_start, ctx_fence, ctx_pending, ctx_batch};
