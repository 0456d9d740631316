/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows where NICs reach device memory themselves: transports of host memory that take device memory too, for puts and
 * gets with PEs of other hosts. Atomics and signals on device memory are the GPU's, and keep their route.
 */
#ifndef WSH_HMEM_H
#define WSH_HMEM_H

#include "runtime/route.h"

/* Whether transports are to be asked for it: by the setting, and only where there may be a GPU. */
bool wsh_hmem_wanted(const struct wsh_job *job);

/*
 * open: registers the device heap with the transports that take it; register and withdraw: a further segment; close:
 * forgets all of it. With the GPU attached. 0 or a logged error; that a transport refuses the memory is none.
 */
int wsh_hmem_open(struct wsh_job *job);
void wsh_hmem_close(struct wsh_job *job);
int wsh_hmem_register(struct wsh_job *job, const struct wsh_mem *mem);
void wsh_hmem_withdraw(struct wsh_job *job, int seg);

/* Finds the segment at the PEs of other hosts that have registered it likewise. */
int wsh_hmem_connect(struct wsh_job *job, int seg, const struct wsh_peer_blob *peers);

/*
 * The way of a put or get between memory behind `route`, of segment `seg`, and `local` (NULL: host memory), where one
 * of both is device memory: by a NIC where one reaches both, else through host memory. NULL, with a logged error: none.
 */
const struct wsh_route *wsh_hmem_route(const struct wsh_job *job, const struct wsh_route *route, int seg,
                                       const void *local);

#endif
