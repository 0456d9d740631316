/* SPDX-License-Identifier: BSD-3-Clause */
/* The public routines that start and end a program's use of the library (sections 9.1 and 9.2). */
#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"

#include "base/log.h"
#include "runtime/gpu/host.h"

WSH_SHELL(void, init, (void))
{
    if (wsh_job_init(SHMEM_THREAD_SINGLE))
        wsh_abort(1);
}

WSH_SHELL(int, init_thread, (int requested, int *provided))
{
    int rc;

    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
        wsh_error("shmem_init_thread: there is no thread level %d; use SHMEM_THREAD_SINGLE (%d) to "
                  "SHMEM_THREAD_MULTIPLE (%d)",
                  requested, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE);
        return -EINVAL;
    }
    rc = wsh_job_init(requested);
    if (!rc && provided)
        *provided = wsh_job.thread_level;
    return rc;
}

WSH_SHELL(void, query_thread, (int *provided))
{
    if (!provided)
        wsh_api_null("shmem_query_thread: provided");
    *provided = wsh_job.thread_level;
}

WSH_SHELL(void, query_initialized, (int *initialized))
{
    if (!initialized)
        wsh_api_null("shmem_query_initialized: initialized");
    *initialized = wsh_job.n_pes > 0;
}

WSH_SHELL(void, finalize, (void))
{
    wsh_api_ready("shmem_finalize");
    WSH_API_SAME("shmem_finalize", &wsh_job.world, "%s", "");
    if (wsh_job.check)
        wsh_overwrite_report();
    wsh_job_fini();
}

/* No attribute of format: the arguments after `level` are the profiler's. */
WSH_SHELL(void, pcontrol, (int level, ...))
{
    (void)level;
}

/* The reason may be a kernel that has failed, of which CUDA says little. */
WSH_SHELL(_Noreturn void, global_exit, (int status))
{
    wsh_view_look(&wsh_job);
    wsh_abort(status);
}
