/* SPDX-License-Identifier: BSD-3-Clause */
/* Which PEs share a host or a memory domain, and whether there are cores for all. */
#ifndef WSH_HOSTS_H
#define WSH_HOSTS_H

#include <stdbool.h>

struct wsh_job;
struct wsh_peer_blob;

/*
 * Sets job->same_host, local_rank, local_size, domain, n_domains, oversubscribed, nics and tuning; the arrays are
 * allocated. In time that grows as the PEs do. 0 or -ENOMEM.
 */
int wsh_hosts_note(struct wsh_job *job, const struct wsh_peer_blob *peers);

/* Is some PE on another host? After note. */
bool wsh_hosts_are_many(const struct wsh_job *job);

#endif
