/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Staging: operations on device memory of other hosts that no NIC reaches, and transfers between device memory that
 * NICs do not take and host memory of other hosts. They travel as messages through host memory of both PEs; the
 * target's kernels or stream apply them.
 *
 * To contexts, fences, quiet and reports it is a transport like any other, with the operations of transport.h. The core
 * opens it (route/open.c), not the registry: it stands on the core's own routes, which reach it as a *staging context*.
 */
#ifndef WSH_STAGE_H
#define WSH_STAGE_H

#include "transports/transport.h"

struct wsh_gpu;
struct wsh_inbox;

/* Memory as the staging context's transport reaches it, and that transport's part of staging's own context. */
struct wsh_stage_target {
    const struct wsh_rmem *rmem;
    struct wsh_tctx *tctx;
};

/*
 * The staging context that staging uses. Valid until staging is closed. Both functions: -EHOSTUNREACH, not logged,
 * where no transport reaches the memory.
 */
struct wsh_stage_context {
    char *base; /* host memory for staging alone, zero when it opens */
    size_t len; /* bytes of it, the same on all PEs */
    size_t off; /* offset of `base` in WSH_SEG_HEAP */
    const struct wsh_gpu *gpu;
    struct wsh_inbox
        *inbox; /* from which kernels pull what has come, zero when it opens; NULL: they do not */
    /* From connect on: host memory (WSH_SEG_HEAP) of `pe`. */
    int (*reach)(const struct wsh_stage_context *context, int pe, struct wsh_stage_target *to);
    /* From the first operation on: segment `seg` of this PE, by the GPU's stream, which keeps all in order. */
    int (*own)(const struct wsh_stage_context *context, enum wsh_seg seg, struct wsh_stage_target *to);
    void *core; /* for both */
};

/* Its operations, without NULL slots; `open` is the function below. */
const struct wsh_tp_ops *wsh_stage_ops(void);

/* -ENODEV: there is no staging context, which is not an error; or a logged error. */
int wsh_stage_open(const struct wsh_stage_context *context, int my_pe, int n_pes, struct wsh_tp **tp);

/*
 * A signal behind data that go by another transport: it leaves in its turn, once *hold, which begins at 1, is 0. The
 * caller gives *hold to the put as `done`, then calls release with whether that was started; if not, nothing has been
 * asked for. `done` reaches 0 when the signal leaves. hold: 0, -EAGAIN or a logged error.
 */
int wsh_stage_signal_hold(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *done,
                          struct wsh_done **hold);
void wsh_stage_signal_release(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *hold,
                              bool started);

#endif
