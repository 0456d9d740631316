/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares settings of the network and of GPUs with what the job has, and names those that are deprecated. */
#include "runtime/job/unused_settings.h"

#include "base/cuda/cuda.h"
#include "base/log.h"
#include "runtime/job/job.h"

#include <dlfcn.h>

static void warn_unused(const char *setting, const char *why)
{
    wsh_warn("%s has no effect in this job: %s", setting, why);
}

/* The driver is loaded only where there is no sign of a GPU, to be sure. */
static bool has_gpu(void)
{
    return wsh_cuda_is_likely() || !wsh_cuda_open();
}

void wsh_unused_warn(const struct wsh_job *job)
{
    static const char no_network[] = "no PE is reached over a network";
    const struct wsh_env *env = &job->env;

    if (job->my_pe)
        return;
    if (env->trace && !dlopen("libwarpshmem-trace.so.0", RTLD_LAZY | RTLD_NOLOAD))
        warn_unused("SHMEM_TRACE",
                    "libwarpshmem-trace.so is not preloaded; start it with oshrun --trace FILE");
    if (env->nvtx && !dlopen("libwarpshmem-trace.so.0", RTLD_LAZY | RTLD_NOLOAD))
        warn_unused("SHMEM_NVTX", "libwarpshmem-trace.so is not preloaded; start it with oshrun --nvtx");
    if (!job->network && env->nics)
        warn_unused("SHMEM_NICS", no_network);
    if (!job->network && env->nics_exclude)
        warn_unused("SHMEM_NICS_EXCLUDE", no_network);
    if (env->gda == WSH_ON && !job->network)
        warn_unused("SHMEM_GDA=on", no_network);
    else if (env->gda == WSH_ON && !has_gpu())
        warn_unused("SHMEM_GDA=on", "this host has no GPU, or no NVIDIA driver");
    if (env->free_later)
        wsh_warn("SHMEM_FREE_LATER is deprecated and goes with version 0.2; call shmemx_free_later where PEs "
                 "free memory at different times");
}
