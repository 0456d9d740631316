/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and ends instances: who is near, memory, counters. */
#include "ep/ep.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char routine[] = "shmemx_ep_create";

/* What the PEs of a team agree on: the least and the largest of values, in memory of the team. */
struct agreed {
    shmem_team_t team;
    int64_t *mine, *least, *largest; /* [2] */
};

static int agreed_open(struct agreed *agreed, shmem_team_t team)
{
    agreed->team = team;
    agreed->mine = shmemx_team_malloc(team, 6 * sizeof(int64_t));
    agreed->least = agreed->mine + 2;
    agreed->largest = agreed->mine + 4;
    return agreed->mine ? 0
                        : ep_refuse(routine, "no symmetric memory for 48 bytes; raise SHMEM_SYMMETRIC_SIZE");
}

/* Whether all PEs gave the same two values; *least_first is the least of the first. */
static bool agree(struct agreed *agreed, int64_t first, int64_t second, int64_t *least_first)
{
    agreed->mine[0] = first;
    agreed->mine[1] = second;
    shmemx_team_barrier(agreed->team);
    shmem_int64_min_reduce(agreed->team, agreed->least, agreed->mine, 2);
    shmem_int64_max_reduce(agreed->team, agreed->largest, agreed->mine, 2);
    if (least_first)
        *least_first = agreed->least[0];
    return !memcmp(agreed->least, agreed->largest, 2 * sizeof(int64_t));
}

/* Of the configuration's words; FNV-1a. */
static int64_t config_hash(const shmemx_ep_config_t *config)
{
    uint64_t hash = 14695981039346656037u;
    const unsigned char *bytes = (const unsigned char *)config;

    for (size_t i = 0; i < sizeof *config; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return (int64_t)(hash >> 1);
}

/*
 * How many PEs of the team are near, this one among them: those that shmem_ptr reaches, if they follow each other and
 * begin at a multiple of their number; else 0.
 */
static int count_near(const struct shmemx_ep *ep, int n, int me, const void *symmetric)
{
    int first = -1, near = 0;

    for (int pe = 0; pe < n; pe++) {
        if (pe != me && !shmem_ptr(symmetric, ep->pes[pe]))
            continue;
        if (first < 0)
            first = pe;
        if (pe != first + near)
            return 0;
        near++;
    }
    return first % near || n % near ? 0 : near;
}

/*
 * All PEs take the same number, 1 where hosts are unlike each other. Symmetric memory of the kind that rows will be in
 * says who is reached.
 */
static int agree_near(struct shmemx_ep *ep, struct agreed *agreed, int n, int me)
{
    void *device = ep->config.device ? shmemx_team_malloc_device(ep->team, EP_ALIGN) : NULL;
    int near = ep->config.device && !device ? 1 : count_near(ep, n, me, device ? device : agreed->mine);
    int64_t least;

    ep->hosts_alike = agree(agreed, near, n, &least) && near;
    if (device)
        shmemx_team_free(ep->team, device);
    if (!ep->hosts_alike)
        ep_info("hosts do not have equally many PEs of the team that follow each other: all rows go by the "
                "network; "
                "give teams whose PEs lie host by host");
    return ep->hosts_alike ? near : 1;
}

/* The program may destroy its team. */
static int take_team(struct shmemx_ep *ep, shmem_team_t team)
{
    int n = shmem_team_n_pes(team);

    if (shmem_team_split_strided(team, 0, 1, n, NULL, 0, &ep->team) || ep->team == SHMEM_TEAM_INVALID)
        return ep_refuse(routine, "no duplicate of the team; destroy teams that are no longer needed");

    ep->pes = malloc((size_t)n * sizeof *ep->pes);
    if (!ep->pes)
        return ep_refuse(routine, "no memory for the numbers of %d PEs", n);
    for (int pe = 0; pe < n; pe++)
        ep->pes[pe] = shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
    return 0;
}

/* Alike on all PEs: the first one says it. */
static void print_choice(const struct shmemx_ep *ep)
{
    const struct ep_shape *shape = &ep->shape;
    const char *mode = shape->mode == SHMEMX_EP_LOW_LATENCY ? "low latency" : "high throughput";
    const char *route = !shape->far ? "one host" : shape->one_copy ? "one copy a host" : "direct";

    if (shape->me)
        return;
    ep_info("%s, %d PEs, %d near; %s; window %d tokens, %d slots; %d handles; %zu bytes of symmetric memory, "
            "%zu beside "
            "it, %d counters",
            mode, shape->n, shape->near, route, shape->window, shape->slots, shape->handles, shape->bytes,
            ep_states_bytes(shape), shape->counters);
}

static int take_arena(struct shmemx_ep *ep)
{
    const struct ep_shape *shape = &ep->shape;
    bool device = ep->config.device;

    ep->arena = device ? shmemx_team_malloc_device(ep->team, shape->bytes)
                       : shmemx_team_malloc(ep->team, shape->bytes);
    if (!ep->arena)
        return ep_refuse(
            routine,
            "no room for %zu bytes of symmetric memory; raise %s, or lower tokens, capacity or handles",
            shape->bytes, device ? "SHMEM_DEVICE_SYMMETRIC_MAX" : "SHMEM_SYMMETRIC_SIZE");
    return 0;
}

/* Local memory, and addresses of near arenas. */
static int take_local(struct shmemx_ep *ep)
{
    const struct ep_shape *shape = &ep->shape;

    ep->near_arena = calloc((size_t)shape->near, sizeof *ep->near_arena);
    ep->counters = calloc((size_t)shape->counters + 1, sizeof *ep->counters);
    ep->handle_tokens = calloc((size_t)shape->handles, sizeof *ep->handle_tokens);
    if (!ep->near_arena || !ep->counters || !ep->handle_tokens)
        return ep_refuse(routine, "no memory for %d counters", shape->counters);
    for (int handle = 0; handle < shape->handles; handle++)
        ep->handle_tokens[handle] = -1;
    for (int l = 0; l < shape->near; l++)
        ep->near_arena[l] =
            l == shape->local ? ep->arena : shmem_ptr(ep->arena, ep->pes[shape->host * shape->near + l]);
    return 0;
}

/* What moves the rows: this thread, or kernels. */
static int take_mover(struct shmemx_ep *ep)
{
    if (ep_masks_open(ep))
        return 1;
    if (ep->config.device)
        return ep_device_calls->open(ep);
    ep->state = calloc(1, ep_states_bytes(&ep->shape));
    ep->phase = calloc(1, ep_phase_bytes(&ep->shape));
    ep->group = calloc(1, ep->shape.group + 1);
    if (!ep->state || !ep->phase || !ep->group)
        return ep_refuse(routine, "no memory for %zu bytes of state", ep_states_bytes(&ep->shape));
    memset(ep->arena, 0, ep->shape.zeros);
    memset(ep->arena + ep->shape.handle, 0, (size_t)ep->shape.handles * ep->shape.kept);
    if (shmem_ctx_create(0, &ep->ctx))
        return ep_refuse(routine, "no context; destroy some, for each instance takes one");
    return 0;
}

static void give_buffers(struct shmemx_ep *ep)
{
    for (int which = 0; which < 2; which++)
        if (ep->buffers[which] && ep->config.device)
            ep_device_calls->give(ep->buffers[which]);
        else
            free(ep->buffers[which]);
}

static void give_up(struct shmemx_ep *ep)
{
    give_buffers(ep);
    ep_masks_close(ep);
    if (ep->config.device && ep->kernels)
        ep_device_calls->close(ep);
    if (ep->ctx != SHMEM_CTX_INVALID)
        shmem_ctx_destroy(ep->ctx);
    if (!ep->config.device) {
        free(ep->state);
        free(ep->phase);
        free(ep->group);
    }
    if (ep->arena)
        shmemx_team_free(ep->team, ep->arena);
    if (ep->team != SHMEM_TEAM_INVALID)
        shmem_team_destroy(ep->team);
    free(ep->near_arena);
    free(ep->counters);
    free(ep->handle_tokens);
    free(ep->pes);
    free(ep);
}

static int check_route(const struct shmemx_ep *ep)
{
    if (ep->config.dtype == SHMEMX_EP_NVFP4 && ep->config.device && ep->shape.far)
        return ep_refuse(routine,
                         "dtype is SHMEMX_EP_NVFP4 and rows are in memory of the GPU: kernels have no such "
                         "rows between hosts; take SHMEMX_EP_FP8");
    if (ep->config.route == SHMEMX_EP_ONE_COPY && !ep->hosts_alike)
        return ep_refuse(
            routine, "route is SHMEMX_EP_ONE_COPY, and hosts do not have equally many PEs of the team that "
                     "follow each other; take SHMEMX_EP_DIRECT or SHMEMX_EP_AUTO");
    return 0;
}

/* After the arena; what fails here on one PE ends it for all. */
static int take_rest(struct shmemx_ep *ep, struct agreed *agreed)
{
    int failed = take_local(ep);

    if (!agree(agreed, failed, 0, NULL) || failed)
        return 1;
    failed = ep->shape.counters && shmemx_counter_create(ep->team, (size_t)ep->shape.counters, ep->counters);
    if (!agree(agreed, failed, 0, NULL) || failed)
        return 1;
    failed = take_mover(ep);
    if (agree(agreed, failed, 0, NULL) && !failed)
        return 0;
    if (ep->shape.counters)
        shmemx_counter_destroy(ep->team, (size_t)ep->shape.counters, ep->counters);
    return 1;
}

/* Of configurations that differ: the first member that does. Collective. */
static int refuse_difference(struct agreed *agreed, const shmemx_ep_config_t *config)
{
/* clang-format off */
#define MEMBER(name) {#name, offsetof(shmemx_ep_config_t, name)}
    /* clang-format on */
    static const struct {
        const char *name;
        size_t at;
    } members[] = {MEMBER(mode),     MEMBER(dtype),        MEMBER(route),          MEMBER(device),
                   MEMBER(hidden),   MEMBER(experts),      MEMBER(topk),           MEMBER(tokens),
                   MEMBER(window),   MEMBER(handles),      MEMBER(blocks),         MEMBER(exact),
                   MEMBER(masks),    MEMBER(topk_bits),    MEMBER(row_bytes),      MEMBER(pe_capacity),
                   MEMBER(limit_ms), MEMBER(fewer_blocks), MEMBER(expert_capacity)};
#undef MEMBER
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        int mine = *(const int *)((const char *)config + members[i].at);

        if (!agree(agreed, mine, 0, NULL))
            return ep_refuse(
                routine,
                "the configurations of PEs differ: %s is %d here, and from %lld to %lld over all PEs; "
                "give all the same, with zeros where nothing is said",
                members[i].name, mine, (long long)agreed->least[0], (long long)agreed->largest[0]);
    }
    return ep_refuse(routine,
                     "the configurations of PEs differ; give all the same, with zeros where nothing is said");
}

static int build(struct shmemx_ep *ep, struct agreed *agreed, shmem_team_t team)
{
    int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);

    if (!agree(agreed, config_hash(&ep->config), 0, NULL))
        return refuse_difference(agreed, &ep->config);
    if (take_team(ep, team))
        return 1;
    ep_shape_fill(&ep->shape, &ep->config, me, n, agree_near(ep, agreed, n, me));
    if (check_route(ep))
        return 1;
    print_choice(ep);
    if (take_arena(ep) || take_rest(ep, agreed))
        return 1;
    shmemx_team_barrier(team);
    return 0;
}

static int check_arguments(shmem_team_t team, const shmemx_ep_config_t *given, shmemx_ep_config_t *config,
                           const shmemx_ep_t *made)
{
    if (!made)
        return ep_refuse(routine, "ep is NULL; give the address of a shmemx_ep_t");
    return ep_config_read(routine, given, config) || ep_check_config(routine, config, shmem_team_n_pes(team));
}

/* What one PE refuses all do: the others would wait for it for ever. */
static int agree_arguments(struct agreed *agreed, int refused)
{
    if (!agree(agreed, refused, 0, NULL) && !refused)
        return ep_refuse(routine, "another PE refuses its arguments, as its line says; give all the same");
    return refused;
}

static int make(struct shmemx_ep **made, struct agreed *agreed, shmem_team_t team,
                const shmemx_ep_config_t *config)
{
    struct shmemx_ep *ep = calloc(1, sizeof *ep);

    if (!ep)
        return ep_refuse(routine, "no memory for %zu bytes", sizeof *ep);
    ep->config = *config;
    ep->team = SHMEM_TEAM_INVALID;
    ep->ctx = SHMEM_CTX_INVALID;
    if (build(ep, agreed, team)) {
        give_up(ep);
        return 1;
    }
    shmemx_report_add(ep_report, ep);
    ep_live_add(ep);
    *made = ep;
    return 0;
}

int shmemx_ep_create(shmem_team_t team, const shmemx_ep_config_t *given, shmemx_ep_t *made)
{
    shmemx_ep_config_t config;
    struct agreed agreed;
    int failed;

    ep_print_pe(shmem_my_pe());
    if (made)
        *made = NULL;
    if (team == SHMEM_TEAM_INVALID || shmem_team_n_pes(team) < 1)
        return ep_refuse(
            routine, "team is none of this PE; give SHMEM_TEAM_WORLD, or one that this PE is a member of");
    failed = check_arguments(team, given, &config, made);
    if (agreed_open(&agreed, team))
        return 1;
    failed = agree_arguments(&agreed, failed) || make(made, &agreed, team, &config);
    shmemx_team_free(team, agreed.mine);
    return failed;
}

/* In GPU memory they would have to be copied: there shmemx_ep_statistics does it where the program wants them. */
static void count_rows(const struct shmemx_ep *ep)
{
    if (ep->config.device)
        return;
    shmemx_stats_add(SHMEMX_STATS_EXPERT_ROWS, ep->state->network_rows + ep->state->near_rows);
}

int shmemx_ep_destroy(shmemx_ep_t ep)
{
    if (ep_check_live("shmemx_ep_destroy", ep))
        return 1;
    if (ep->dispatch.sent || ep->combine.sent)
        return ep_refuse("shmemx_ep_destroy",
                         "the receiving half of a %s has not come; call it with SHMEMX_EP_RECEIVE first",
                         ep->dispatch.sent ? "dispatch" : "combine");
    ep_live_remove(ep);
    shmemx_report_remove(ep);
    count_rows(ep);
    if (ep->config.device) {
        ep_device_calls->close(ep);
        ep->kernels = NULL;
    } else {
        shmem_ctx_quiet(ep->ctx);
    }
    shmemx_team_barrier(ep->team);
    if (ep->shape.counters)
        shmemx_counter_destroy(ep->team, (size_t)ep->shape.counters, ep->counters);
    give_up(ep);
    return 0;
}
