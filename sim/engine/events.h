/* SPDX-License-Identifier: BSD-3-Clause */
/* Events in the order of simulated time; those of the same time in the order in which they were added. */
#ifndef PERF_SIM_EVENTS_H
#define PERF_SIM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t sim_time; /* picoseconds */

/* A fiber goes on; a packet reaches a NIC, is through it, ends at its source; a store in a host is seen. */
enum sim_event_kind { SIM_RESUME, SIM_ARRIVE, SIM_LAND, SIM_END, SIM_STORE };

struct sim_event {
    sim_time at;
    uint64_t order;
    void *what;
    enum sim_event_kind kind;
};

void sim_events_add(sim_time at, enum sim_event_kind kind, void *what);
/* False: there are none. */
bool sim_events_take(struct sim_event *event);
/* The time of the next one; UINT64_MAX: none. */
sim_time sim_events_next(void);
void sim_events_clear(void);

#endif
