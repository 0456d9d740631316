/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives and is not of this job: dropped and counted. */
#ifndef WSH_EFA_FOREIGN_H
#define WSH_EFA_FOREIGN_H

struct wsh_efa;
struct wsh_efa_set;

enum wsh_efa_foreign { WSH_EFA_FOREIGN_MESSAGE, WSH_EFA_FOREIGN_WRITE };
/* Something came that is not of this job and was dropped: counts it, and says so once a minute at most. */
void wsh_efa_foreign_note(struct wsh_efa_set *set, enum wsh_efa_foreign what);
/* How many there were in all, for who asks (SHMEM_DEBUG=info). */
void wsh_efa_foreign_sum(const struct wsh_efa *efa);

#endif
