/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the public team routines (section 9.4). */
#include "runtime/team.h"

#include "runtime/api/api.h"

WSH_SHELL(int, team_my_pe, (shmem_team_t team))
{
    const struct wsh_team *members = wsh_api_team(team);

    wsh_api_ready("shmem_team_my_pe");
    return members ? members->my_pe : -1;
}

WSH_SHELL(int, team_n_pes, (shmem_team_t team))
{
    const struct wsh_team *members = wsh_api_team(team);

    wsh_api_ready("shmem_team_n_pes");
    return members ? members->n_pes : -1;
}

WSH_SHELL(int, team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))
{
    const struct wsh_team *members = wsh_api_team(team);

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
    const struct wsh_team *from = wsh_api_team(src_team), *to = wsh_api_team(dest_team);

    wsh_api_ready("shmem_team_translate_pe");
    return from && to ? wsh_team_translate(from, src_pe, to) : -1;
}
