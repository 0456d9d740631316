/* SPDX-License-Identifier: BSD-3-Clause */
/* Says which settings are taken under another library's name, and why others of NVSHMEM's are not needed. */
#include "base/env.h"

#include "base/log.h"

#include <string.h>

static const struct {
    const char *name, *why;
} not_needed[] = {
    {"NVSHMEM_BOOTSTRAP", "the launcher is found by itself, or named by SHMEM_BOOTSTRAP"},
    {"NVSHMEM_BOOTSTRAP_PMI", "the launcher is found by itself, or named by SHMEM_BOOTSTRAP"},
    {"NVSHMEM_BOOTSTRAP_UID_SESSION_ID", "a unique id is an argument of shmemx_init_attr"},
    {"NVSHMEM_CUMEM_GRANULARITY", "the device heap grows by what is asked for"},
    {"NVSHMEM_DEBUG_SUBSYS", "SHMEM_DEBUG names subsystems too"},
    {"NVSHMEM_DISABLE_NVLS", "NVLink multicast is not used"},
    {"NVSHMEM_DISABLE_P2P", "SHMEM_TRANSPORTS says how PEs of one host reach each other"},
    {"NVSHMEM_ENABLE_NIC_PE_MAPPING", "NICs near the GPU are chosen; SHMEM_NICS names others"},
    {"NVSHMEM_IB_ENABLE_IBGDA", "kernels reach other hosts through the proxy"},
    {"NVSHMEM_MAX_TEAMS", "there are as many teams as SHMEM_TEAM_MEMORY has room for"},
    {"NVSHMEM_NETDEVS_POLICY", "NICs near the GPU are chosen; SHMEM_NICS names others"},
    {"NVSHMEM_QP_DEPTH", "the depth of queues is the provider's"},
    {"NVSHMEM_REMOTE_TRANSPORT", "the network is chosen; SHMEM_LIBFABRIC_PROVIDER names one"},
};

void wsh_env_note(void)
{
    struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        wsh_env_describe(i, &row);
        if (strcmp(row.origin, "default") && strcmp(row.origin, row.name))
            wsh_info(WSH_SUB_INIT, "%s is taken as %s", row.origin, row.name);
    }
    for (size_t i = 0; i < sizeof not_needed / sizeof not_needed[0]; i++)
        if (wsh_env_foreign(not_needed[i].name))
            wsh_info(WSH_SUB_INIT, "%s is not read: %s", not_needed[i].name, not_needed[i].why);
}
