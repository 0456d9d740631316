/* SPDX-License-Identifier: BSD-3-Clause */
/* The order and completion of a context's operations, across transports too. */
#ifndef WSH_ORDER_H
#define WSH_ORDER_H

#include "runtime/op/ctx.h"

/* Orders earlier operations before later ones, per PE. No wait where the transport needs none. */
int wsh_fence(struct wsh_ctx *ctx);
/* Waits until all operations of the context are complete at their targets. */
int wsh_quiet(struct wsh_ctx *ctx);
/* Waits until the sources of all operations of the context may be reused. */
int wsh_flush(struct wsh_ctx *ctx);
/* The same for the PEs in pes[0..n) (numbered in ctx's team); -ERANGE: no such PE. */
int wsh_pe_quiet(struct wsh_ctx *ctx, const int *pes, size_t n);

/*
 * Only where ctx->paths: before an operation to global `pe` by transport `tp`, completes what a fence has
 * ordered before it on other transports; notes the transport as used.
 */
int wsh_order_paths(struct wsh_ctx *ctx, int pe, unsigned tp);

/* Operations between the two calls may reach a device together (wsh_tp_ops.batch_begin). end: 0 or a final error. */
void wsh_together_begin(struct wsh_ctx *ctx);
int wsh_together_end(struct wsh_ctx *ctx);

/*
 * Does not wait: is everything that transports were given complete, or with `sources` read? `awaited`: they should
 * complete it soon.
 */
bool wsh_order_is_over(struct wsh_ctx *ctx, bool sources, bool awaited);

/* Waits until what the context sent to global `pe` by transport `tp` is complete. */
int wsh_order_drain(struct wsh_ctx *ctx, int pe, unsigned tp, const char *routine);

#endif
