/* SPDX-License-Identifier: BSD-3-Clause */
/* The local transport's data operations; struct wsh_tp_ops says what each does. */
#ifndef WSH_LOCAL_COPY_H
#define WSH_LOCAL_COPY_H

#include "transports/transport.h"

int local_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
              struct wsh_done *done);
int local_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
              struct wsh_done *done);
int local_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
              void *result, struct wsh_done *done);
int local_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                     size_t len, const struct wsh_sig *sig, struct wsh_done *done);
int local_fence(struct wsh_tctx *tctx);

#endif
