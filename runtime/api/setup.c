/* SPDX-License-Identifier: BSD-3-Clause */
/* The public routines of setup, exit and query (sections 9.1 and 9.2). */
#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"
#include "base/log.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/host.h"

#include <shmemx.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

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
    WSH_API_SAME("shmem_finalize", wsh_job.all, "%s", "");
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
    wsh_device_errors_poll(&wsh_job);
    wsh_abort(status);
}

/* The start as the program itself says, without a launcher. */

_Static_assert(sizeof(shmemx_uniqueid_t) == WSH_BOOT_UID_BYTES, "an id is what the bootstrap makes");
_Static_assert(sizeof(shmemx_init_attr_t) == 256, "part of the binary interface");

int shmemx_get_uniqueid(shmemx_uniqueid_t *id)
{
    struct wsh_env env;
    int rc;

    if (!id) {
        wsh_error("shmemx_get_uniqueid: id is NULL");
        return -EINVAL;
    }
    rc = wsh_env_load(&env);
    if (rc || wsh_job.inits)
        return rc ? rc : wsh_boot_uid_make(id, &env);
    rc = wsh_log_open(env.debug, env.debug_file);
    if (!rc)
        rc = wsh_boot_uid_make(id, &env);
    wsh_log_close();
    return rc;
}

static int version_check(const char *routine, const shmemx_init_attr_t *attr)
{
    if (attr->version == SHMEMX_INIT_ATTR_VERSION)
        return 0;
    wsh_error("%s: attr has version %u, and this library knows %u; begin it as SHMEMX_INIT_ATTR_INITIALIZER, "
              "and build "
              "with the header of the library that runs",
              routine, attr->version, SHMEMX_INIT_ATTR_VERSION);
    return -EINVAL;
}

int shmemx_set_attr_uniqueid_args(int rank, int n_ranks, const shmemx_uniqueid_t *id,
                                  shmemx_init_attr_t *attr)
{
    int rc = 0;

    if (!id || !attr) {
        wsh_error("shmemx_set_attr_uniqueid_args: %s is NULL", id ? "attr" : "id");
        return -EINVAL;
    }
    rc = version_check("shmemx_set_attr_uniqueid_args", attr);
    if (rc)
        return rc;
    if (n_ranks < 1 || rank < 0 || rank >= n_ranks) {
        wsh_error("shmemx_set_attr_uniqueid_args: there is no rank %d of %d; ranks are 0 to n_ranks - 1",
                  rank, n_ranks);
        return -EINVAL;
    }
    attr->rank = rank;
    attr->n_ranks = n_ranks;
    attr->id = *id;
    return 0;
}

#define WITH_ALL (SHMEMX_INIT_WITH_UNIQUEID | SHMEMX_INIT_WITH_MPI_COMM)

static int arguments_check(unsigned flags, const shmemx_init_attr_t *attr)
{
    int rc;

    if ((flags & ~(WITH_ALL | SHMEMX_INIT_MAY_EXIT | SHMEMX_INIT_ATTACH_GPU)) ||
        (flags & WITH_ALL) == WITH_ALL) {
        wsh_error("shmemx_init_attr: flags 0x%x are none that this library knows; use 0 or one of "
                  "SHMEMX_INIT_WITH_UNIQUEID and SHMEMX_INIT_WITH_MPI_COMM, SHMEMX_INIT_MAY_EXIT, and "
                  "SHMEMX_INIT_ATTACH_GPU",
                  flags);
        return -EINVAL;
    }
    if ((flags & WITH_ALL) && !attr) {
        wsh_error("shmemx_init_attr: attr is NULL");
        return -EINVAL;
    }
    rc = attr ? version_check("shmemx_init_attr", attr) : 0;
    if (rc || !attr ||
        (attr->thread_level >= SHMEM_THREAD_SINGLE && attr->thread_level <= SHMEM_THREAD_MULTIPLE))
        return rc;
    wsh_error("shmemx_init_attr: there is no thread level %d; use SHMEM_THREAD_SINGLE (%d) to "
              "SHMEM_THREAD_MULTIPLE (%d)",
              attr->thread_level, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE);
    return -EINVAL;
}

/* A second call only counts; the number of its ranks does not. */
static void warn_of_second(unsigned flags, const shmemx_init_attr_t *attr)
{
    if (flags == SHMEMX_INIT_WITH_UNIQUEID && (attr->n_ranks != wsh_job.n_pes || attr->rank != wsh_job.my_pe))
        wsh_warn("shmemx_init_attr: this process is PE %d of %d already and stays that, and rank %d of %d is "
                 "not taken; call "
                 "shmem_finalize before it becomes one of another job",
                 wsh_job.my_pe, wsh_job.n_pes, attr->rank, attr->n_ranks);
}

/* Where that fails a line has said why, and the first call that asks for device memory tries again. */
static void attach_chosen(unsigned flags)
{
    if (flags & SHMEMX_INIT_ATTACH_GPU)
        wsh_device_attach_chosen(&wsh_job, "shmemx_init_attr");
}

static int init_by(unsigned with, const shmemx_init_attr_t *attr)
{
    struct wsh_boot_request request = {.method = with == SHMEMX_INIT_WITH_MPI_COMM ? WSH_BOOT_BY_MPI
                                                                                   : WSH_BOOT_BY_UID,
                                       .id = &attr->id,
                                       .rank = attr->rank,
                                       .n_ranks = attr->n_ranks,
                                       .mpi_comm = attr->mpi_comm};

    return wsh_job_init_by(attr->thread_level, with ? &request : NULL);
}

/* Without SHMEMX_INIT_ATTACH_GPU the first call that asks for device memory attaches the GPU. */
int shmemx_init_attr(unsigned flags, shmemx_init_attr_t *attr)
{
    const shmemx_init_attr_t plain = SHMEMX_INIT_ATTR_INITIALIZER, *with = attr ? attr : &plain;
    bool first = !wsh_job.inits;
    int rc = arguments_check(flags, attr);

    if (rc)
        return rc;
    if (first)
        wsh_job.may_exit = flags & SHMEMX_INIT_MAY_EXIT;
    else if (attr)
        warn_of_second(flags & WITH_ALL, attr);
    rc = init_by(flags & WITH_ALL, with);
    if (rc || !first)
        return rc;
    wsh_job.gpu_wanted = with->cuda_device + 1;
    attach_chosen(flags);
    return 0;
}

/* Who and where the PEs are, and what the library is. */

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

/* Names that the specification keeps for old programs. */

/*
 * The program has no finalize of its own, or has called it. A process that the program forked runs
 * the handlers too, but is no PE.
 */
static void finalize_at_exit(void)
{
    if (!wsh_job.n_pes || wsh_job.pid != getpid())
        return;
    WSH_API_SAME("shmem_finalize", wsh_job.all, "%s", "");
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
