/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of struct wsh_tp_ops that start something, each in the .c file of its name. */
#ifndef WSH_EFA_SLOTS_H
#define WSH_EFA_SLOTS_H

#include "transports/transport.h"

int wsh_efa_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
                struct wsh_done *done);
int wsh_efa_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                struct wsh_done *done);
int wsh_efa_put_strided(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                        const struct wsh_strided *shape, const struct wsh_sig *sig, size_t *taken);
void wsh_efa_strided_copy(char *dst, const char *src, const struct wsh_strided *shape);
int wsh_efa_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                void *result, struct wsh_done *done);
int wsh_efa_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                       size_t len, const struct wsh_sig *sig, struct wsh_done *done);
void wsh_efa_describe(struct wsh_tctx *tctx, char *text, size_t size);

#endif
