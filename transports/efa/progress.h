/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of an endpoint set: completions, what they bring about, and what waits for room. */
#ifndef WSH_EFA_PROGRESS_H
#define WSH_EFA_PROGRESS_H

struct wsh_efa_set;

int wsh_efa_set_progress(struct wsh_efa_set *set);
int wsh_efa_set_wait_fd(struct wsh_efa_set *set);

#endif
