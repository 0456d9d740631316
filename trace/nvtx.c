/* SPDX-License-Identifier: BSD-3-Clause */
/* A call as a range on the line of its thread, in the domain warpshmem. */
#include "trace/nvtx.h"

#include "trace/trace.h"

#include "base/log.h"
#include "base/span.h"

bool wsh_trace_nvtx;

#ifdef WSH_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t domain;
static __thread int depth; /* ranges that are open: a call may have begun before they were */

/* NULL: no tool looks on. */
void wsh_trace_nvtx_open(void)
{
    domain = nvtxDomainCreateA("warpshmem");
    wsh_trace_nvtx = domain;
}

void wsh_trace_nvtx_pause(bool pause)
{
    wsh_trace_nvtx = domain && !pause;
}

void wsh_trace_nvtx_close(void)
{
    wsh_trace_nvtx = false;
    domain = NULL;
}

void wsh_trace_nvtx_push(const char *name)
{
    nvtxEventAttributes_t range = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .messageType = NVTX_MESSAGE_TYPE_ASCII,
        .message.ascii = name,
    };

    nvtxDomainRangePushEx(domain, &range);
    depth++;
}

void wsh_trace_nvtx_pop(void)
{
    if (depth) {
        depth--;
        nvtxDomainRangePop(domain);
    }
}
#else
void wsh_trace_nvtx_open(void)
{
    wsh_warn("SHMEM_NVTX has no effect: libwarpshmem-trace was built without NVTX's headers; build it with "
             "the CUDA "
             "Toolkit");
}

void wsh_trace_nvtx_pause(bool pause)
{
    (void)pause;
}

void wsh_trace_nvtx_close(void)
{
}

void wsh_trace_nvtx_push(const char *name)
{
    (void)name;
}

void wsh_trace_nvtx_pop(void)
{
}
#endif

void wsh_trace_range(const char *name)
{
    if (!wsh_trace_nvtx)
        return;
    if (name)
        wsh_trace_nvtx_push(name);
    else
        wsh_trace_nvtx_pop();
}
