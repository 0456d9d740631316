/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for acknowledgements that come no other way, and the acknowledgements of counter writes; see imm_count.h. */
#ifndef WSH_EFA_ACK_REQUEST_H
#define WSH_EFA_ACK_REQUEST_H

#include "transports/efa/set/set.h"

/* There is something to request or to acknowledge. */
static inline bool wsh_efa_ack_request_is_due(const struct wsh_efa_set *set)
{
    return set->imm_counts.n_acks || __atomic_load_n(&set->imm_counts.awaited, __ATOMIC_RELAXED);
}

/* Requests and acknowledges. > 0: did something; < 0: final. */
int wsh_efa_ack_request_progress(struct wsh_efa_set *set);
/* Requests those that deferred writes wait for, where nothing else has. How many. */
int wsh_efa_ack_request_deferred(struct wsh_efa_set *set);

#endif
