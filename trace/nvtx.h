/* SPDX-License-Identifier: BSD-3-Clause */
/* NVTX ranges (SHMEM_NVTX): wsh_trace_nvtx_push and _pop of trace.h are called only while they are open. */
#ifndef WSH_TRACE_NVTX_H
#define WSH_TRACE_NVTX_H

#include <stdbool.h>

/* From now on calls are ranges, if a tool looks on. A line where this was built without NVTX. */
void wsh_trace_nvtx_open(void);
void wsh_trace_nvtx_pause(bool pause);
void wsh_trace_nvtx_close(void);

#endif
