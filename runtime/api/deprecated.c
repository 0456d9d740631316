/* SPDX-License-Identifier: BSD-3-Clause */
/* The public routines that the specification keeps for old programs. */
#include "runtime/api/api.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * The program has no finalize of its own, or has called it. A process that the program forked runs
 * the handlers too, but is no PE.
 */
static void finalize_at_exit(void)
{
    if (!wsh_job.n_pes || wsh_job.pid != getpid())
        return;
    WSH_API_SAME("shmem_finalize", &wsh_job.world, "%s", "");
    wsh_job_fini();
}

WSH_OLD_SHELL(void, start_pes, (int npes))
{
    (void)npes;
    if (wsh_job.n_pes)
        return;
    if (wsh_job_init(SHMEM_THREAD_SINGLE) || atexit(finalize_at_exit))
        wsh_abort(1);
}

WSH_OLD_SHELL(int, _my_pe, (void))
{
    wsh_api_ready("_my_pe");
    return wsh_job.my_pe;
}

WSH_OLD_SHELL(int, _num_pes, (void))
{
    wsh_api_ready("_num_pes");
    return wsh_job.n_pes;
}
