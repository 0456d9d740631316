/* SPDX-License-Identifier: BSD-3-Clause */
/* The phases of which collectives are made, and the tables of those of each kind. */
#ifndef WSH_COLL_REQUEST_PHASES_H
#define WSH_COLL_REQUEST_PHASES_H

#include "runtime/coll/request/state.h"

/* All members have come here. Uses the slot's counters below WSH_REQ_DATA. */
wsh_req_phase wsh_req_sync_phase;
/* What was sent has left its source. */
wsh_req_phase wsh_req_sent_phase;

extern const struct wsh_req_steps wsh_req_sync, wsh_req_broadcast, wsh_req_fcollect, wsh_req_collect,
    wsh_req_alltoall, wsh_req_alltoalls, wsh_req_reduce, wsh_req_alltoallv, wsh_req_alltoallv_packed;

#endif
