/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals: 8-byte words at a peer that are updated after the data they announce. Errors as in rma.h. */
#ifndef WSH_SIGNAL_H
#define WSH_SIGNAL_H

#include "runtime/op/ctx.h"

/* The signal half: op is WSH_AMO_SET or WSH_AMO_ADD. */
struct wsh_signal {
    uint64_t *sym;
    uint64_t value;
    enum wsh_amo_op op;
    uint32_t counter; /* as in struct wsh_sig */
};

/* Data first, then the signal, at `pe`; no fence needed. Blocking: `src` may be reused on return. */
int wsh_put_signal(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                   const struct wsh_signal *signal, int pe);
int wsh_put_signal_nbi(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                       const struct wsh_signal *signal, int pe);

/*
 * One try to start, as wsh_put_start (start.h). -EXDEV: data and signal travel by different transports, which cannot
 * keep their order.
 */
int wsh_put_signal_start(struct wsh_ctx *ctx, const struct wsh_target *to, const struct wsh_target *at,
                         const void *src, size_t len, const struct wsh_signal *signal, struct wsh_done *done);

/* The same, and counted: `src` may be reused when wsh_op_wait(done) returns. */
int wsh_put_signal_counted(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                           const struct wsh_signal *signal, int pe, struct wsh_done *done);

/* All blocks first, then the signal, whose `counter` is 0. Blocking: `src` may be reused on return. */
int wsh_iput_signal(struct wsh_ctx *ctx, void *sym, const void *src, const struct wsh_strided *shape,
                    const struct wsh_signal *signal, int pe);

/* The signal alone (not ordered after earlier puts without a fence). */
int wsh_signal_send(struct wsh_ctx *ctx, const struct wsh_signal *signal, int pe);

#endif
