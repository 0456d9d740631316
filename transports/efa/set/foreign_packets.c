/* SPDX-License-Identifier: BSD-3-Clause */
/* What reaches an endpoint and is not of this job: it is dropped, counted, and reported once a minute at most. */
#include "transports/efa/set/foreign_packets.h"

#include "base/log.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/set/set.h"

#define FOREIGN_S 60

/* Of all efa, which may be served by different threads. */
static bool line_is_due(struct wsh_efa *efa)
{
    uint64_t now = (uint64_t)wsh_efa_now(), due = __atomic_load_n(&efa->foreign_due, __ATOMIC_RELAXED);

    return now >= due && __atomic_compare_exchange_n(&efa->foreign_due, &due, now + FOREIGN_S, false,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void wsh_efa_foreign_note(struct wsh_efa_set *set, enum wsh_efa_foreign what)
{
    static const char *const words[] = {"without this job's secret", "that nobody in this job has sent"};
    uint64_t n = __atomic_add_fetch(&set->efa->foreign[what], 1, __ATOMIC_RELAXED);

    if (line_is_due(set->efa))
        wsh_warn("%s over %s %s dropped, %llu so far: another program reaches this port, and the job goes "
                 "on; SHMEM_INTERFACE chooses where PEs listen",
                 what == WSH_EFA_FOREIGN_MESSAGE ? "a message" : "a counted write", set->rail[0].name,
                 words[what], (unsigned long long)n);
}

void wsh_efa_foreign_sum(const struct wsh_efa *efa)
{
    if (efa->foreign[WSH_EFA_FOREIGN_MESSAGE] || efa->foreign[WSH_EFA_FOREIGN_WRITE])
        wsh_info(WSH_SUB_TRANSPORT, "dropped: %llu messages and %llu counted writes that are not of this job",
                 (unsigned long long)efa->foreign[WSH_EFA_FOREIGN_MESSAGE],
                 (unsigned long long)efa->foreign[WSH_EFA_FOREIGN_WRITE]);
}
