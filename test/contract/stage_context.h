/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A staging context for staging, without a network: host memory that all PEs of a run share. What is put or added
 * arrives later, in any order, in the progress of the PE that sent it; until then the source is in use, as `done` says.
 * One try in four finds no room.
 */
#ifndef WSH_TEST_CONTRACT_STAGE_CONTEXT_H
#define WSH_TEST_CONTRACT_STAGE_CONTEXT_H

#include "transports/transport.h"

enum { STAGE_CONTEXT_BYTES = 4 * (540 << 10) }; /* of each PE */

/* What staging asks of the transport below it, and how PEs meet. */
extern const struct wsh_tp_ops stage_context_ops;

/* Before n PEs start. Then: memory of this PE, zero, at the same address in all PEs; another one each time. */
void stage_context_reset(int n);
char *stage_context_memory(int pe);

#endif
