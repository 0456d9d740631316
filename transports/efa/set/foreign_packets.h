/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives and is not of this job: dropped and counted. */
#ifndef WSH_EFA_STRANGER_H
#define WSH_EFA_STRANGER_H

struct wsh_efa;
struct wsh_efa_set;

enum wsh_efa_foreign { EFA_STRANGE_MESSAGE, EFA_STRANGE_WRITE };
/* Something came that is not of this job and was dropped: counts it, and says so once a minute at most. */
void wsh_efa_foreign_note(struct wsh_efa_set *set, enum wsh_efa_foreign what);
/* How many there were in all, for who asks (SHMEM_DEBUG=info). */
void wsh_efa_foreign_sum(const struct wsh_efa *efa);

#endif
