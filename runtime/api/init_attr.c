/* SPDX-License-Identifier: BSD-3-Clause */
/* The public routines that start the library as the program itself says, without a launcher. */
#include "runtime/api/api.h"

#include "base/log.h"

#include <shmemx.h>
#include <string.h>

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

    if ((flags & ~(WITH_ALL | SHMEMX_INIT_MAY_EXIT)) || (flags & WITH_ALL) == WITH_ALL) {
        wsh_error("shmemx_init_attr: flags 0x%x are none that this library knows; use 0 or one of "
                  "SHMEMX_INIT_WITH_UNIQUEID and SHMEMX_INIT_WITH_MPI_COMM, and SHMEMX_INIT_MAY_EXIT",
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

/* The GPU is attached later, by the first call that asks for device memory. */
int shmemx_init_attr(unsigned flags, shmemx_init_attr_t *attr)
{
    struct wsh_boot_request request;
    bool first = !wsh_job.inits;
    int rc = arguments_check(flags, attr);

    if (rc)
        return rc;
    if (first)
        wsh_job.may_exit = flags & SHMEMX_INIT_MAY_EXIT;
    flags &= WITH_ALL;
    if (!attr)
        return wsh_job_init(SHMEM_THREAD_SINGLE);
    request = (struct wsh_boot_request){.method = flags == SHMEMX_INIT_WITH_MPI_COMM ? WSH_BOOT_BY_MPI
                                                                                     : WSH_BOOT_BY_UID,
                                        .id = &attr->id,
                                        .rank = attr->rank,
                                        .n_ranks = attr->n_ranks,
                                        .mpi_comm = attr->mpi_comm};
    if (!first)
        warn_of_second(flags, attr);
    rc = wsh_job_init_by(attr->thread_level, flags ? &request : NULL);
    if (!rc && first)
        wsh_job.gpu_wanted = attr->cuda_device + 1;
    return rc;
}
