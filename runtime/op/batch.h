/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches: small puts to consecutive addresses, gathered and sent as one. A context has a batch while a session asks
 * for it (session.h). Gathering reorders nothing that the specification orders: fence, quiet and every call that waits
 * first send what is gathered.
 */
#ifndef WSH_BATCH_H
#define WSH_BATCH_H

#include "runtime/op/ctx.h"

#define WSH_BATCH_BYTES 4096 /* of puts that leave together; chosen with perftest/msg_rate */
#define WSH_BATCH_PUT 256    /* of the largest put that is taken */

/* NULL without memory. Closed when nothing is gathered or in flight. */
struct wsh_batch *wsh_batch_open(struct wsh_ctx *ctx);
void wsh_batch_close(struct wsh_batch *batch);

/* How many puts are still to come; the last of them sends the batch. SIZE_MAX: not known. */
void wsh_batch_expect(struct wsh_batch *batch, size_t puts);

/* Whether a put may be gathered; else the caller sends it. */
bool wsh_batch_takes(const struct wsh_batch *batch, const struct wsh_target *to, size_t len);

/* Takes such a put: the source is reusable on return. 0 or a final error, also of an earlier put. */
int wsh_batch_put(struct wsh_batch *batch, const struct wsh_target *to, const void *src, size_t len);

/* Sends what is gathered, and returns when the transport has it. 0 or a final error. */
int wsh_batch_flush(struct wsh_batch *batch);

/* Called by progress: sends, without waiting, the batches that have not grown since its last call. < 0: final error. */
int wsh_batch_progress(struct wsh_job *job);

#endif
