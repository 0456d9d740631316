/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier for staging, without a network: host memory that all PEs of a run share. What is put or added arrives
 * later, in any order, in the progress of the PE that sent it; until then the source is in use, as `done` says. One try
 * in four finds no room.
 */
#ifndef WSH_TEST_CONTRACT_CARRIER_H
#define WSH_TEST_CONTRACT_CARRIER_H

#include "transports/transport.h"

enum { CARRIER_BYTES = 4 * (540 << 10) }; /* of each PE */

/* What staging asks of the transport below it, and how PEs meet. */
extern const struct wsh_tp_ops carrier_ops;

/* Before n PEs start. Then: memory of this PE, zero, at the same address in all PEs; another one each time. */
void carrier_reset(int n);
char *carrier_memory(int pe);

#endif
