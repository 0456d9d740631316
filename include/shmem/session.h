/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: section 9.9 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * A session says what a context is about to be used for, so that the library can do it faster. It changes neither
 * order nor completion.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/*
 * Begins a session on `ctx`, or adds to the present one: `options` is 0 or bits SHMEM_CTX_SESSION_*; `config_mask`
 * names the fields of *config that hold (bits SHMEM_CTX_SESSION_TOTAL_OPS); `config` may be NULL when it is 0.
 *
 * SHMEM_CTX_SESSION_BATCH: latency of single calls does not matter. Over a network, small puts to consecutive addresses
 * of one PE are gathered and sent together: when one does not fit, at the next fence, quiet or wait, with the last of
 * total_ops, at the session's end, or after a short time.
 *
 * Not collective. For SHMEM_CTX_INVALID nothing is done. Sections 9.9.1, .2.
 */
void WSH_NAME(ctx_session_start)(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config,
                                 long config_mask);

/* Ends the session on `ctx`. Without one, and for SHMEM_CTX_INVALID, nothing is done. Section 9.9.3. */
void WSH_NAME(ctx_session_stop)(shmem_ctx_t ctx);

#endif
