/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the PEs that have not come to a fence of shmem_init or shmem_finalize in which others have waited too long. */
#ifndef WSH_OSHRUN_ABSENT_H
#define WSH_OSHRUN_ABSENT_H

#include "bootstrap/oshrun/io.h"

#include <stdbool.h>

struct wsh_absent {
    int n_pes;
    bool *here;    /* PEs that have reported in this round */
    bool *missing; /* what was printed last */
    bool finalize; /* else shmem_init */
    double until;  /* when the round ends; 0 = there is none */
};

/* 0 or -ENOMEM after one line. */
int wsh_absent_init(struct wsh_absent *absent, int n_pes);
void wsh_absent_fini(struct wsh_absent *absent);

/* Takes a WSH_EVENT_WAITS; the first begins a round, in which all PEs are asked. Other events are not looked at. */
void wsh_absent_event(struct wsh_absent *absent, const struct wsh_event *event);

/* Seconds until wsh_absent_timeout has something to say; negative = nothing. */
double wsh_absent_wait(const struct wsh_absent *absent);

/* Prints one line, unless the same PEs were named last. */
void wsh_absent_timeout(struct wsh_absent *absent);

#endif
