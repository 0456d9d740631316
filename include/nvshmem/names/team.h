/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams, by number. */
#ifndef WSH_NV_TEAM_H
#define WSH_NV_TEAM_H

#include "shell.h"

WSH_NV_BOTH int nvshmem_team_my_pe(nvshmem_team_t team)
{
    return shmem_team_my_pe(SHMEMX_TEAM(team));
}

WSH_NV_BOTH int nvshmem_team_n_pes(nvshmem_team_t team)
{
    return shmem_team_n_pes(SHMEMX_TEAM(team));
}

WSH_NV_BOTH int nvshmem_team_translate_pe(nvshmem_team_t src_team, int src_pe, nvshmem_team_t dest_team)
{
    return shmem_team_translate_pe(SHMEMX_TEAM(src_team), src_pe, SHMEMX_TEAM(dest_team));
}

#ifndef __CUDACC_RTC__

WSH_NV_HOST void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t *config)
{
    shmem_team_config_t ours = {0};

    WSH_NV_WRITES(config, "nvshmem_team_get_config: config");
    if (!shmem_team_get_config(SHMEMX_TEAM(team), SHMEM_TEAM_NUM_CONTEXTS, &ours))
        config->num_contexts = ours.num_contexts;
}

/* Of the versions of the configuration all have the number of contexts at the same place. */
static inline int wsh_nv_contexts(const nvshmem_team_config_t *config, long mask)
{
    return config && mask & NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS && config->num_contexts > 0
               ? config->num_contexts
               : 0;
}

WSH_NV_HOST int nvshmem_team_split_strided(nvshmem_team_t parent_team, int PE_start, int PE_stride,
                                           int PE_size, const nvshmem_team_config_t *config, long config_mask,
                                           nvshmem_team_t *new_team)
{
    const shmem_team_config_t ours = {wsh_nv_contexts(config, config_mask)};
    shmem_team_t team = SHMEM_TEAM_INVALID;
    int status = shmem_team_split_strided(SHMEMX_TEAM(parent_team), PE_start, PE_stride, PE_size, &ours,
                                          SHMEM_TEAM_NUM_CONTEXTS, new_team ? &team : NULL);

    *new_team = shmemx_team_number(team);
    return status;
}

WSH_NV_HOST int nvshmem_team_split_2d(nvshmem_team_t parent_team, int xrange,
                                      const nvshmem_team_config_t *xaxis_config, long xaxis_mask,
                                      nvshmem_team_t *xaxis_team, const nvshmem_team_config_t *yaxis_config,
                                      long yaxis_mask, nvshmem_team_t *yaxis_team)
{
    const shmem_team_config_t xs = {wsh_nv_contexts(xaxis_config, xaxis_mask)},
                              ys = {wsh_nv_contexts(yaxis_config, yaxis_mask)};
    shmem_team_t x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
    int status =
        shmem_team_split_2d(SHMEMX_TEAM(parent_team), xrange, &xs, SHMEM_TEAM_NUM_CONTEXTS,
                            xaxis_team ? &x : NULL, &ys, SHMEM_TEAM_NUM_CONTEXTS, yaxis_team ? &y : NULL);

    *xaxis_team = shmemx_team_number(x);
    *yaxis_team = shmemx_team_number(y);
    return status;
}

WSH_NV_HOST int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t *uniqueid)
{
    return shmemx_team_get_id(uniqueid);
}

WSH_NV_HOST int nvshmemx_team_init(nvshmem_team_t *team, nvshmem_team_config_t *config, long config_mask,
                                   int npes, int pe_idx_in_team)
{
    const shmem_team_config_t ours = {wsh_nv_contexts(config, config_mask)};
    shmem_team_t made;
    int status;

    if (!team || !config)
        return wsh_nv_refuse(
            "nvshmemx_team_init: team or config is NULL; the configuration has the team's id");
    status = shmemx_team_init(config->uniqueid, npes, pe_idx_in_team, &ours, SHMEM_TEAM_NUM_CONTEXTS, &made);
    *team = shmemx_team_number(made);
    return status;
}

WSH_NV_HOST void nvshmem_team_destroy(nvshmem_team_t team)
{
    shmem_team_destroy(SHMEMX_TEAM(team));
}

#endif

#endif
