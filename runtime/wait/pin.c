/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the processors for the library's threads that serve NICs. */
#define _GNU_SOURCE
#include "runtime/wait/pin.h"

#include "base/log.h"
#include "runtime/job/job.h"
#include "topo/topo.h"

#include <sched.h>

static void gather_near(const struct wsh_job *job, cpu_set_t *near)
{
    CPU_ZERO(near);
    for (unsigned tp = 0; tp < job->n_tps; tp++)
        CPU_OR(near, near, &job->limits[tp].near);
}

void wsh_pin_thread(const struct wsh_job *job, pthread_t thread, const char *what, bool narrow)
{
    cpu_set_t allowed, near, pin;
    char text[256];

    gather_near(job, &near);
    if (!CPU_COUNT(&near) || sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    if (wsh_topo_pin(&allowed, &near, narrow, &pin) && !pthread_setaffinity_np(thread, sizeof pin, &pin)) {
        wsh_topo_cpus_text(&pin, text, sizeof text);
        wsh_info(WSH_SUB_TOPO, "%s runs on processors %s, near the NICs", what, text);
    } else {
        wsh_topo_cpus_text(&allowed, text, sizeof text);
        wsh_info(WSH_SUB_TOPO, "%s runs on processors %s, as this process may", what, text);
    }
}
