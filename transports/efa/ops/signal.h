/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts with a signal, in one message where they are short. */
#ifndef WSH_EFA_SIGNAL_H
#define WSH_EFA_SIGNAL_H

#include "transports/efa/set/flow.h"
#include "transports/efa/wire/req.h"
#include "transports/efa/wire/wire.h"

struct wsh_efa_set;

/* Where a message has the signal updated. */
static inline struct wsh_efa_target wsh_efa_signal_target(const struct wsh_sig *sig)
{
    return (struct wsh_efa_target){
        .seg = (uint8_t)sig->rmem->seg, .op = (uint8_t)sig->op, .width = 8, .off = sig->off};
}

#endif
