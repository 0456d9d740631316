/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations on 4- and 8-byte words as bit patterns. Errors as in rma.h; -EFAULT when misaligned too. */
#ifndef WSH_AMO_H
#define WSH_AMO_H

#include "runtime/op/ctx.h"

/*
 * Blocking: with `result` != NULL the old value (amo->width bytes) is there on return; without, the operation
 * has been started and completes by wsh_quiet.
 */
int wsh_amo(struct wsh_ctx *ctx, void *sym, const struct wsh_amo *amo, void *result, int pe);

/* Nonblocking fetch: *result is valid after wsh_quiet. */
int wsh_amo_nbi(struct wsh_ctx *ctx, void *sym, const struct wsh_amo *amo, void *result, int pe);

/* One try to start, as wsh_put_start (start.h); `result` as in transport.h. */
int wsh_amo_start(struct wsh_ctx *ctx, const struct wsh_target *to, const struct wsh_amo *amo, void *result,
                  struct wsh_done *done);

#endif
