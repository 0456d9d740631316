/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs give for one mode: the library works on the members that both modes share in version 1, so that here
 * the others are brought there.
 */
#include "ep/ep.h"

#include <stddef.h>
#include <string.h>

const char *ep_capacity_name(int mode)
{
    return mode == SHMEMX_EP_LOW_LATENCY ? "expert_capacity" : "pe_capacity";
}

int ep_config_read(const char *routine, const shmemx_ep_config_t *given, shmemx_ep_config_t *config)
{
    bool low;
    int mine, others;

    if (!given)
        return ep_refuse(routine, "config is NULL; give the address of a shmemx_ep_config_t");
    if (given->version != SHMEMX_EP_CONFIG_VERSION)
        return ep_refuse(routine,
                         "version is %u, and this library knows %u; begin the configuration with "
                         "SHMEMX_EP_CONFIG_INITIALIZER",
                         given->version, SHMEMX_EP_CONFIG_VERSION);
    *config = *given;
    low = given->mode == SHMEMX_EP_LOW_LATENCY;
    mine = low ? given->expert_capacity : given->pe_capacity;
    others = low ? given->pe_capacity : given->expert_capacity;
    if (others)
        return ep_refuse(routine, "%s is given, which mode %d does not have; give %s",
                         ep_capacity_name(low ? SHMEMX_EP_HIGH_THROUGHPUT : SHMEMX_EP_LOW_LATENCY),
                         given->mode, ep_capacity_name(given->mode));
    if (mine && given->capacity)
        return ep_refuse(routine, "capacity and %s are given; give the second alone",
                         ep_capacity_name(given->mode));
    if (mine)
        config->capacity = mine;
    config->expert_capacity = config->pe_capacity = 0;
    return 0;
}

static bool has_any(const void *memory, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)memory;

    for (size_t i = 0; i < bytes; i++)
        if (at[i])
            return true;
    return false;
}

static void take_by_expert(shmemx_ep_dispatch_t *call, const shmemx_ep_rows_by_expert_t *rows)
{
    call->rows = rows->rows;
    call->row_scales = rows->row_scales;
    call->counts = rows->counts;
    call->sources = rows->sources;
    call->ranges = rows->ranges;
    call->row_sources = rows->row_sources;
    call->totals = rows->totals;
    call->scales_row_step = rows->scales_row_step;
    call->scales_column_step = rows->scales_column_step;
    call->scales_packed = rows->scales_packed != 0;
}

static void take_by_source(shmemx_ep_dispatch_t *call, const shmemx_ep_rows_by_source_t *rows)
{
    call->rows = rows->rows;
    call->row_scales = rows->row_scales;
    call->counts = rows->counts;
    call->sources = rows->sources;
    call->row_sources = rows->row_sources;
    call->row_topk = rows->row_topk;
    call->row_weights = rows->row_weights;
}

int ep_dispatch_read(const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *given,
                     shmemx_ep_dispatch_t *call)
{
    const char *routine = "shmemx_ep_dispatch";
    bool low, by_expert, by_source;

    if (ep_check_live(routine, ep))
        return 1;
    if (!given)
        return ep_refuse(routine, "call is NULL; give the address of a shmemx_ep_dispatch_t");
    memset(call, 0, sizeof *call);
    memcpy(call, given,
           given->version == SHMEMX_EP_CALL_VERSION ? sizeof *call
                                                    : offsetof(shmemx_ep_dispatch_t, by_expert));
    low = ep->config.mode == SHMEMX_EP_LOW_LATENCY;
    by_expert = has_any(&call->by_expert, sizeof call->by_expert);
    by_source = has_any(&call->by_source, sizeof call->by_source);
    if (low ? by_source : by_expert)
        return ep_refuse(routine, "%s is given, which mode %d does not have; give %s",
                         low ? "by_source" : "by_expert", ep->config.mode, low ? "by_expert" : "by_source");
    if ((by_expert || by_source) && call->rows)
        return ep_refuse(routine, "rows and %s are given; give the second alone",
                         low ? "by_expert" : "by_source");
    if (by_expert)
        take_by_expert(call, &call->by_expert);
    if (by_source)
        take_by_source(call, &call->by_source);
    return 0;
}
