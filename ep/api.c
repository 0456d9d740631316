/* SPDX-License-Identifier: BSD-3-Clause */
/* The routines that programs call: they check, and pass calls on to what moves the rows. */
#include "ep/ep.h"

#include <stdlib.h>
#include <string.h>

int shmemx_ep_bytes(const shmemx_ep_config_t *given, int n_pes, int pes_per_host, shmemx_ep_bytes_t *bytes)
{
    const char *routine = "shmemx_ep_bytes";
    shmemx_ep_config_t config;
    struct ep_shape shape;

    if (n_pes < 1 || pes_per_host < 1 || n_pes % pes_per_host)
        return ep_refuse(routine, "n_pes is %d and pes_per_host %d; the first is a multiple of the second",
                         n_pes, pes_per_host);
    if (!bytes)
        return ep_refuse(routine, "bytes is NULL; give the address of a shmemx_ep_bytes_t");
    if (ep_config_read(routine, given, &config) || ep_check_config(routine, &config, n_pes))
        return 1;
    ep_shape_fill(&shape, &config, 0, n_pes, pes_per_host);
    bytes->symmetric = shape.bytes;
    bytes->local = sizeof(struct shmemx_ep) + ep_states_bytes(&shape) + ep_phase_bytes(&shape) +
                   (config.masks ? ep_masks_bytes(&shape) : 0) + (size_t)shape.near * sizeof(char *) +
                   (config.device ? 0 : shape.group) + (size_t)(n_pes + shape.handles) * sizeof(int) +
                   (size_t)shape.counters * sizeof(shmemx_counter_t);
    bytes->counters = shape.counters;
    return 0;
}

/* What the host remembers of a half that was called. */
static void remember(struct ep_half *half, int halves, int handle, int tokens)
{
    half->sent = halves == SHMEMX_EP_SEND;
    half->handle = handle;
    half->tokens = tokens;
}

/* Which of the two buffers a call has taken, as the steps choose it. */
static void take_turn(int *turn, const char *arena, const size_t buffers[2], const void *given)
{
    int taken = 1 - *turn;

    for (int i = 0; i < 2; i++)
        if (given == arena + buffers[i])
            taken = i;
    *turn = taken;
}

static int host_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    if (ep->shape.pushes) {
        ep_host_low_dispatch(ep, call);
        return 0;
    }
    if (ep->shape.pulls) {
        ep_host_pull_dispatch(ep, call);
        return 0;
    }
    if (call->halves & SHMEMX_EP_SEND)
        ep_host_dispatch_send(ep, call);
    if (call->halves & SHMEMX_EP_RECEIVE)
        ep_host_dispatch_receive(ep, call);
    return 0;
}

static int start_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    shmemx_stats_add(SHMEMX_STATS_EXPERT_CALLS, call->halves & SHMEMX_EP_SEND ? 1 : 0);
    remember(&ep->dispatch, call->halves, call->handle, call->tokens);
    ep->dispatch.most = call->rows_most;
    ep->dispatch.agreed = call->agreed;
    ep->dispatch.room = call->expanded && call->rows_most ? call->expanded->room : 0;
    ep->dispatch.alignment = call->expanded ? call->expanded->alignment : 1;
    ep->handle_tokens[call->handle] = call->tokens;
    if (call->halves & SHMEMX_EP_SEND && !ep->shape.pushes)
        take_turn(&ep->turn[SHMEMX_EP_BUFFER_X], ep->arena, ep->shape.x, call->x);
    return ep->config.device ? ep_device_calls->dispatch(ep, call) : host_dispatch(ep, call);
}

int shmemx_ep_dispatch(shmemx_ep_t ep, const shmemx_ep_dispatch_t *given)
{
    shmemx_ep_dispatch_t call;

    if (ep_dispatch_read(ep, given, &call) || ep_check_dispatch(ep, &call))
        return 1;
    return start_dispatch(ep, &call);
}

static int host_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    if (ep->shape.pushes) {
        ep_host_low_combine(ep, call);
        return 0;
    }
    if (ep->shape.pulls) {
        ep_host_pull_combine(ep, call);
        return 0;
    }
    if (call->halves & SHMEMX_EP_SEND)
        ep_host_combine_send(ep, call);
    if (call->halves & SHMEMX_EP_RECEIVE)
        ep_host_combine_receive(ep, call);
    return 0;
}

/* On the host the library waits for words of symmetric memory alone. */
static int check_words(const struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    if (!call->signals || ep->config.device || shmem_addr_accessible(call->signals, shmem_my_pe()))
        return 0;
    return ep_refuse("shmemx_ep_combine", "signals is %p, no symmetric memory; take shmem_malloc",
                     (const void *)call->signals);
}

int shmemx_ep_combine(shmemx_ep_t ep, const shmemx_ep_combine_t *call)
{
    if (ep_check_combine(ep, call) || check_words(ep, call))
        return 1;
    shmemx_stats_add(SHMEMX_STATS_EXPERT_CALLS, call->halves & SHMEMX_EP_SEND ? 1 : 0);
    remember(&ep->combine, call->halves, call->handle, 0);
    if (call->halves & SHMEMX_EP_SEND && !ep->shape.pushes)
        take_turn(&ep->turn[SHMEMX_EP_BUFFER_Y], ep->arena, ep->shape.y, call->y);
    return ep->config.device ? ep_device_calls->combine(ep, call) : host_combine(ep, call);
}

/* Low latency among near PEs: rows are copied nowhere first, so that this is memory like any other of the program. */
static void *own_buffer(struct shmemx_ep *ep, const char *routine, int which)
{
    const struct ep_shape *shape = &ep->shape;
    size_t bytes = which == SHMEMX_EP_BUFFER_X ? (size_t)shape->tokens * shape->row
                                               : (size_t)shape->y_rows * shape->hidden * 2;

    if (!ep->buffers[which])
        ep->buffers[which] = ep->config.device ? ep_device_calls->take(bytes) : malloc(bytes);
    if (!ep->buffers[which])
        ep_refuse(routine,
                  "no memory for %zu bytes; lower tokens or capacity, or take memory of the program's own",
                  bytes);
    return ep->buffers[which];
}

void *shmemx_ep_buffer(shmemx_ep_t ep, int which)
{
    const char *routine = "shmemx_ep_buffer";

    if (ep_check_live(routine, ep))
        return NULL;
    if (which != SHMEMX_EP_BUFFER_X && which != SHMEMX_EP_BUFFER_Y) {
        ep_refuse(routine, "which is %d; it is SHMEMX_EP_BUFFER_X (0) or SHMEMX_EP_BUFFER_Y (1)", which);
        return NULL;
    }
    if (ep->shape.pushes)
        return own_buffer(ep, routine, which);
    return ep->arena + (which == SHMEMX_EP_BUFFER_X ? ep->shape.x : ep->shape.y)[1 - ep->turn[which]];
}

static int host_counts(struct shmemx_ep *ep, int handle, int32_t *counts, int32_t *rows)
{
    const struct ep_shape *shape = &ep->shape;
    const struct ep_kept *kept =
        (const struct ep_kept *)(ep->arena + shape->handle + (size_t)handle * shape->kept);
    const int32_t *sums =
        (const int32_t *)(ep->arena + ep_kept_first(shape, handle)) + (size_t)shape->n * shape->counted;

    if (counts)
        memcpy(counts, sums + (shape->counted - shape->mine), (size_t)shape->mine * sizeof *counts);
    *rows = kept->rows;
    return 0;
}

/* Whether rows, of so many of each local expert, have more than the room that the last dispatch had. */
static bool exceeds(const struct shmemx_ep *ep, int32_t rows, const int32_t *counts)
{
    int64_t alignment = ep->dispatch.alignment, expanded = 0;

    for (int i = 0; i < ep->shape.mine && ep->dispatch.room; i++)
        expanded += (counts[i] + alignment - 1) / alignment * alignment;
    return rows > ep->dispatch.most || expanded > ep->dispatch.room;
}

/* A call that was declined leaves no routing, and one that had no room for its rows was a sending half. */
static void note_rows(struct shmemx_ep *ep, int handle, int32_t rows, const int32_t *counts)
{
    if (rows < 0)
        ep->handle_tokens[handle] = -1;
    else if (handle == ep->dispatch.handle && ep->dispatch.most && exceeds(ep, rows, counts))
        ep->dispatch.sent = true;
}

/* The numbers, and what they say of the last dispatch. */
static int learn_rows(struct shmemx_ep *ep, int handle, int32_t *counts, int32_t *rows)
{
    if (ep->config.device ? ep_device_calls->counts(ep, handle, counts, rows)
                          : host_counts(ep, handle, counts, rows))
        return 1;
    note_rows(ep, handle, *rows, counts);
    return 0;
}

int shmemx_ep_counts(shmemx_ep_t ep, int handle, int32_t *counts, int32_t *rows)
{
    int32_t received = 0, *own = NULL;
    int status;

    if (ep_check_counts(ep, handle))
        return 1;
    if (!counts && ep->dispatch.room && !(own = malloc((size_t)ep->shape.mine * sizeof *own)))
        return ep_refuse("shmemx_ep_counts", "no memory for the numbers of %d experts", ep->shape.mine);
    status = learn_rows(ep, handle, counts ? counts : own, &received);
    free(own);
    if (status)
        return 1;
    if (rows)
        *rows = received;
    if (received > ep->shape.capacity)
        return ep_refuse("shmemx_ep_counts",
                         "%d rows were received with handle %d, and %s is %d: those beyond it "
                         "were not stored; create with a larger one: %lld rows can come",
                         received, handle, ep_capacity_name(ep->shape.mode), ep->shape.capacity,
                         (long long)ep->shape.n * ep->shape.tokens);
    return 0;
}

int shmemx_ep_statistics(shmemx_ep_t ep, shmemx_ep_statistics_t *statistics)
{
    const char *routine = "shmemx_ep_statistics";

    if (ep_check_live(routine, ep))
        return 1;
    if (!statistics)
        return ep_refuse(routine, "statistics is NULL; give the address of a shmemx_ep_statistics_t");
    if (ep->config.device)
        return ep_device_calls->statistics(ep, statistics);
    statistics->network_rows = ep->state->network_rows;
    statistics->network_puts = ep->state->network_puts;
    statistics->near_rows = ep->state->near_rows;
    statistics->calls = ep->state->dispatches + ep->state->combines;
    return 0;
}
