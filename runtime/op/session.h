/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions on a context: what the program has announced of its use. */
#ifndef WSH_SESSION_H
#define WSH_SESSION_H

#include <stdbool.h>
#include <stddef.h>

struct wsh_ctx;

struct wsh_session {
    bool started;
    long options;     /* SHMEM_CTX_SESSION_* */
    size_t total_ops; /* SIZE_MAX = not said */
};

/*
 * Begins a session or adds `options` to the current one; total_ops replaces what was said before unless it is NULL. 0
 * or -ENOMEM (the session then goes on without a batch, which is not an error).
 */
int wsh_session_start(struct wsh_ctx *ctx, long options, const size_t *total_ops);

/* Sends what is left of a batch. 0 or a final error of a put. Without a session: nothing. */
int wsh_session_stop(struct wsh_ctx *ctx);

/* Ends the session and releases what sessions on the context have used. */
void wsh_session_fini(struct wsh_ctx *ctx);

#endif
