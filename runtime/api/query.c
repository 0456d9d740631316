/* SPDX-License-Identifier: BSD-3-Clause */
/* The public queries (section 9.1): who and where the PEs are, and what the library is. */
#include "runtime/api/api.h"

#include <string.h>

WSH_SHELL(int, my_pe, (void))
{
    wsh_api_ready("shmem_my_pe");
    return wsh_job.my_pe;
}

WSH_SHELL(int, n_pes, (void))
{
    wsh_api_ready("shmem_n_pes");
    return wsh_job.n_pes;
}

/* What `addr` is at global PE `pe`; NULL where that is not reached. */
static const struct wsh_rmem *rmem_of(const void *addr, int pe, size_t *off)
{
    return pe < 0 || pe >= wsh_job.n_pes ? NULL : wsh_job_rmem(&wsh_job, addr, 1, pe, off);
}

/* Where entries wait for their first use, every PE's heap is reached: shmem_init has seen to that (route.c). */
WSH_SHELL(int, pe_accessible, (int pe))
{
    size_t off;

    wsh_api_ready("shmem_pe_accessible");
    if (wsh_job.routes.filled)
        return pe >= 0 && pe < wsh_job.n_pes;
    return rmem_of(wsh_job.heap.seg[WSH_SEG_HEAP].base, pe, &off) != NULL;
}

WSH_SHELL(int, addr_accessible, (const void *addr, int pe))
{
    size_t off;

    wsh_api_ready("shmem_addr_accessible");
    if (pe < 0 || pe >= wsh_job.n_pes)
        return 0;
    return wsh_job_rmem_first(&wsh_job, addr, 1, pe, &off) != NULL;
}

/* A PE needs no transport to reach its own memory. */
static void *map_of(const void *dest, int pe)
{
    size_t off;
    const struct wsh_rmem *rmem = rmem_of(dest, pe, &off);

    if (rmem && pe == wsh_job.my_pe)
        return (void *)dest;
    if (rmem && rmem->gpu) /* for kernels and cudaMemcpy */
        return rmem->gpu + off;
    return rmem && rmem->map ? rmem->map + off : NULL;
}

WSH_SHELL(void *, ptr, (const void *dest, int pe))
{
    wsh_api_ready("shmem_ptr");
    return map_of(dest, pe);
}

WSH_SHELL(void *, team_ptr, (shmem_team_t team, const void *dest, int pe))
{
    const struct wsh_team *members = wsh_api_team("shmem_team_ptr", team);

    wsh_api_ready("shmem_team_ptr");
    if (!members || pe < 0 || pe >= members->n_pes)
        return NULL;
    return map_of(dest, members->members[pe]);
}

WSH_SHELL(void, info_get_version, (int *major, int *minor))
{
    if (!major || !minor)
        wsh_api_null("shmem_info_get_version: major or minor");
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

WSH_SHELL(void, info_get_name, (char *name))
{
    _Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "the name fits its buffer");
    if (!name)
        wsh_api_null("shmem_info_get_name: name");
    memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}
