/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun --trace FILE and --nvtx. */
#ifndef WSH_OSHRUN_TRACE_H
#define WSH_OSHRUN_TRACE_H

#include "bootstrap/oshrun/args.h"

/*
 * Gives the PEs, also those that another launcher starts, the library and what it is to do. 0, or OSHRUN_… after one
 * line.
 */
int wsh_trace_prepare(const struct wsh_args *args);

/* After the job: has the parts merged that PE 0 did not come to. */
void wsh_trace_finish(void);

#endif
