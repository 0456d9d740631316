/* SPDX-License-Identifier: BSD-3-Clause */
/* Says which settings are taken by another name, and why others of NVSHMEM's and libfabric's are not needed. */
#include "base/env/env.h"

#include "base/env/conf.h"
#include "base/env/secure.h"
#include "base/log.h"
#include "base/env/misspelt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *why;
} not_needed[] = {
    {"NVSHMEM_BOOTSTRAP", "the launcher is found by itself, or named by SHMEM_BOOTSTRAP"},
    {"NVSHMEM_BOOTSTRAP_MPI_PLUGIN", "SHMEM_BOOTSTRAP_MPI_PLUGIN names the object for MPI communicators"},
    {"NVSHMEM_BOOTSTRAP_PMI", "the launcher is found by itself, or named by SHMEM_BOOTSTRAP"},
    {"NVSHMEM_BOOTSTRAP_UID_SESSION_ID", "a unique id is an argument of shmemx_init_attr"},
    {"NVSHMEM_CPU_AFFINITY", "oshrun --bind says which cores a PE may use"},
    {"NVSHMEM_CUMEM_GRANULARITY", "the device heap grows by what is asked for"},
    {"NVSHMEM_DEBUG_SUBSYS", "SHMEM_DEBUG names subsystems too"},
    {"NVSHMEM_DISABLE_GDRCOPY", "GDRCopy is not used"},
    {"NVSHMEM_DISABLE_NCCL", "NCCL is not used"},
    {"NVSHMEM_DISABLE_NVLS", "NVLink multicast is not used"},
    {"NVSHMEM_DISABLE_P2P", "SHMEM_TRANSPORTS says how PEs of one host reach each other"},
    {"NVSHMEM_ENABLE_MULTI_PORT", "all NICs near a PE are used"},
    {"NVSHMEM_ENABLE_NIC_PE_MAPPING",
     "each PE uses its nearest NICs, and PEs with the same ones share them; SHMEM_NICS "
     "and SHMEM_NICS_PER_PE choose others"},
    {"NVSHMEM_HCA_PE_MAPPING", "NICs near the GPU are chosen; SHMEM_NICS names others"},
    {"NVSHMEM_IBGDA_NIC_HANDLER", "SHMEM_GDA says whether kernels write to the NICs themselves"},
    {"NVSHMEM_IB_DISABLE_DMABUF", "SHMEM_HMEM says whether NICs reach device memory"},
    {"NVSHMEM_IB_ENABLE_IBGDA", "SHMEM_GDA says whether kernels write to the NICs themselves"},
    {"NVSHMEM_MAX_TEAMS", "there are as many teams as SHMEM_TEAM_MEMORY has room for"},
    {"NVSHMEM_NETDEVS_POLICY", "NICs near the GPU are chosen; SHMEM_NICS names others"},
    {"NVSHMEM_QP_DEPTH", "the depth of queues is the provider's"},
    {"NVSHMEM_REMOTE_TRANSPORT", "the network is chosen; SHMEM_LIBFABRIC_PROVIDER names one"},
};

/* Of libfabric, which reads them: recipes for other libraries set them. */
static const struct {
    const char *name, *harmless, *why;
} of_libfabric[] = {
    {"FI_EFA_ENABLE_SHM_TRANSFER", "0",
     "is not needed: PEs of one host share memory without it, and with it a message to another host carries "
     "less; "
     "unset it"},
    {"FI_EFA_USE_DEVICE_RDMA", NULL,
     "is not needed: libfabric finds out whether the device has RDMA; with 1 it aborts where there is none, "
     "with 0 it "
     "sends messages instead; unset it"},
};

const char *wsh_env_not_needed(size_t i)
{
    return i < sizeof not_needed / sizeof not_needed[0] ? not_needed[i].name : NULL;
}

static void note_libfabric(void)
{
    for (size_t i = 0; i < sizeof of_libfabric / sizeof of_libfabric[0]; i++) {
        const char *value = wsh_env_foreign(of_libfabric[i].name), *harmless = of_libfabric[i].harmless;

        if (value && (!harmless || strcmp(value, harmless)))
            wsh_info(WSH_SUB_INIT, "%s=%s %s", of_libfabric[i].name, value, of_libfabric[i].why);
    }
}

static bool is_in_file(const char *name)
{
    const struct wsh_conf_line *line;

    for (size_t i = 0; (line = wsh_conf_line(i)); i++)
        if (!strcmp(line->name, name))
            return true;
    return false;
}

void wsh_env_note(void)
{
    struct wsh_env_row row;

    if (!wsh_log_on(WSH_LOG_INFO, WSH_SUB_INIT))
        return;
    for (size_t i = 0; i < wsh_env_count(); i++) {
        wsh_env_describe(i, &row);
        if (*row.by && strcmp(row.by, row.name))
            wsh_info(WSH_SUB_INIT, "%s is taken as %s", row.by, row.name);
    }
    for (size_t i = 0; i < sizeof not_needed / sizeof not_needed[0]; i++)
        if (wsh_env_foreign(not_needed[i].name) || is_in_file(not_needed[i].name))
            wsh_info(WSH_SUB_INIT, "%s is not read: %s", not_needed[i].name, not_needed[i].why);
    note_libfabric();
}

static void warn_unknown(const struct wsh_misspelt *it)
{
    char where[300] = "";

    if (it->path)
        snprintf(where, sizeof where, "%s:%d: ", it->path, it->number);
    wsh_warn("%s%.*s is no setting of this library and is not read; %s%s%s", where, it->length, it->name,
             it->meant ? "is it " : "warpshmem-info lists those that are", it->meant ? it->meant : "",
             it->meant ? "?" : "");
}

void wsh_env_warn(void)
{
    const char *ignored = wsh_env_secure_ignored();
    struct wsh_misspelt found;
    size_t at = 0;

    if (ignored)
        wsh_warn("%s and other settings in the environment do not count: this program has rights that who "
                 "starts it may "
                 "not have (set-user-ID, set-group-ID or capabilities), and runs with those of " WSH_CONF_SITE
                 " and defaults",
                 ignored);
    while (!ignored && wsh_env_misspelt(&at, &found))
        warn_unknown(&found);
}
