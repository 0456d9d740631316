/* SPDX-License-Identifier: BSD-3-Clause */
/* The public team routines (section 9.4). */
#include "runtime/team/team.h"

#include "runtime/api/api.h"
#include "runtime/coll/request/request.h"

#include <shmemx.h>

struct wsh_team *wsh_api_team_number(const char *what, int number)
{
    struct wsh_team *team = wsh_job.n_pes ? wsh_team_by_number(&wsh_job, number) : NULL;

    if (!team && wsh_job.n_pes && number >= 0)
        wsh_api_bad(what, "team has been destroyed; split off another one");
    return team;
}

WSH_SHELL(int, team_my_pe, (shmem_team_t team))
{
    const struct wsh_team *members = wsh_api_team("shmem_team_my_pe", team);

    wsh_api_ready("shmem_team_my_pe");
    return members ? members->my_pe : -1;
}

WSH_SHELL(int, team_n_pes, (shmem_team_t team))
{
    const struct wsh_team *members = wsh_api_team("shmem_team_n_pes", team);

    wsh_api_ready("shmem_team_n_pes");
    return members ? members->n_pes : -1;
}

WSH_SHELL(int, team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))
{
    const struct wsh_team *members = wsh_api_team("shmem_team_get_config", team);

    wsh_api_ready("shmem_team_get_config");
    if (!members)
        return -EINVAL;
    if (config_mask && !config)
        wsh_api_bad("shmem_team_get_config", "config is NULL and config_mask is not 0");
    if (config_mask & SHMEM_TEAM_NUM_CONTEXTS)
        config->num_contexts = members->num_contexts;
    return 0;
}

WSH_SHELL(int, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
{
    const struct wsh_team *from = wsh_api_team("shmem_team_translate_pe", src_team),
                          *to = wsh_api_team("shmem_team_translate_pe", dest_team);

    wsh_api_ready("shmem_team_translate_pe");
    return from && to ? wsh_team_translate(from, src_pe, to) : -1;
}

/* The contexts wanted by a configuration; of the fields that the mask names. */
static int contexts_of(const char *what, const shmem_team_config_t *config, long mask)
{
    if (!(mask & SHMEM_TEAM_NUM_CONTEXTS))
        return 0;
    if (!config)
        wsh_api_bad(what, "the configuration is NULL and its mask is not 0");
    if (config->num_contexts < 0)
        wsh_api_bad(what, "num_contexts is negative");
    return config->num_contexts;
}

WSH_SHELL(int, team_split_strided,
          (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
           long config_mask, shmem_team_t *new_team))
{
    struct wsh_team *parent = wsh_api_team("shmem_team_split_strided", parent_team);
    const struct wsh_triplet triplet = {start, stride, size};
    int contexts;

    wsh_api_ready("shmem_team_split_strided");
    if (!new_team)
        wsh_api_bad("shmem_team_split_strided", "new_team is NULL; pass the address of a shmem_team_t");
    *new_team = SHMEM_TEAM_INVALID;
    contexts = contexts_of("shmem_team_split_strided", config, config_mask);
    if (!parent)
        return -EINVAL;
    WSH_API_SAME("shmem_team_split_strided", parent, "start %d, stride %d, size %d", start, stride, size);
    return wsh_team_split_strided(parent, &triplet, contexts, new_team);
}

WSH_SHELL(int, team_split_2d,
          (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
           shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
           shmem_team_t *yaxis_team))
{
    struct wsh_team *parent = wsh_api_team("shmem_team_split_2d", parent_team), *axes[2] = {NULL, NULL};
    int contexts[2], rc = -EINVAL;

    wsh_api_ready("shmem_team_split_2d");
    if (!xaxis_team || !yaxis_team)
        wsh_api_bad("shmem_team_split_2d",
                    "xaxis_team or yaxis_team is NULL; pass the addresses of two shmem_team_t");
    contexts[0] = contexts_of("shmem_team_split_2d", xaxis_config, xaxis_mask);
    contexts[1] = contexts_of("shmem_team_split_2d", yaxis_config, yaxis_mask);
    if (parent) {
        WSH_API_SAME("shmem_team_split_2d", parent, "xrange %d", xrange);
        rc = wsh_team_split_2d(parent, xrange, contexts, axes);
    }
    *xaxis_team = axes[0];
    *yaxis_team = axes[1];
    return rc;
}

WSH_SHELL(void, team_destroy, (shmem_team_t team))
{
    wsh_api_ready("shmem_team_destroy");
    if (team == SHMEM_TEAM_INVALID)
        return;
    team = wsh_api_team("shmem_team_destroy", team);
    if (team->number < WSH_TEAM_NUMBERS)
        wsh_api_bad("shmem_team_destroy",
                    "predefined teams cannot be destroyed; destroy those that were split off");
    if (wsh_unlikely(wsh_req_left(&wsh_job, team) != NULL))
        wsh_api_bad(
            "shmem_team_destroy",
            "a nonblocking collective of the team has not been waited for; call shmemx_req_wait first");
    WSH_API_SAME("shmem_team_destroy", team, "%s", "");
    wsh_api_check("shmem_team_destroy", wsh_team_destroy(team));
}

int shmemx_team_create(shmem_team_t parent_team, const int *pes, int n_pes, const shmem_team_config_t *config,
                       long config_mask, shmem_team_t *new_team)
{
    struct wsh_team *parent = wsh_api_team("shmemx_team_create", parent_team);
    int contexts;

    wsh_api_ready("shmemx_team_create");
    if (!new_team)
        wsh_api_bad("shmemx_team_create", "new_team is NULL; pass the address of a shmem_team_t");
    *new_team = SHMEM_TEAM_INVALID;
    contexts = contexts_of("shmemx_team_create", config, config_mask);
    if (!parent)
        return -EINVAL;
    if (n_pes > 0 && !pes)
        wsh_api_bad("shmemx_team_create", "pes is NULL");
    WSH_API_SAME("shmemx_team_create", parent, "%d PEs", n_pes);
    return wsh_team_split_list(parent, pes, n_pes, contexts, new_team);
}

int shmemx_team_number(shmem_team_t team)
{
    const struct wsh_team *members = wsh_api_team("shmemx_team_number", team);

    wsh_api_ready("shmemx_team_number");
    return members ? members->number : -1;
}

shmem_team_t shmemx_team_of_number(int number)
{
    const struct wsh_team *team;

    wsh_api_ready("shmemx_team_of_number");
    team = wsh_team_by_number(&wsh_job, number);
    return team ? SHMEMX_TEAM(number) : SHMEM_TEAM_INVALID;
}

int shmemx_team_get_id(uint64_t *id)
{
    wsh_api_ready("shmemx_team_get_id");
    if (!id)
        wsh_api_bad("shmemx_team_get_id", "id is NULL");
    *id = wsh_team_id_make(&wsh_job);
    return 0;
}

int shmemx_team_init(uint64_t id, int n_pes, int my_pe, const shmem_team_config_t *config, long config_mask,
                     shmem_team_t *new_team)
{
    wsh_api_ready("shmemx_team_init");
    if (!new_team)
        wsh_api_bad("shmemx_team_init", "new_team is NULL; pass the address of a shmem_team_t");
    *new_team = SHMEM_TEAM_INVALID;
    return wsh_team_by_id(&wsh_job, id, n_pes, my_pe, contexts_of("shmemx_team_init", config, config_mask),
                          new_team);
}
