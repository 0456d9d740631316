/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up with attributes: by a unique id, by an MPI communicator, by SHMEM, which starts as nvshmem_init does. */
#ifndef WSH_NV_INIT_H
#define WSH_NV_INIT_H

#include "../names/setup.h"

#ifndef __CUDACC_RTC__

/* The arguments behind mpi_comm count only where their version says that they were initialized. */
static inline int wsh_nv_attr_device(const nvshmemx_init_attr_t *attr)
{
    return attr->args.version == NVSHMEM_INIT_ARGS_V2_IDENTIFIER ? attr->args.cuda_device_id : -1;
}

static inline int wsh_nv_init_by_id(const nvshmemx_init_attr_t *attr)
{
    const nvshmemx_uniqueid_args_t *args = &attr->args.uid_args;
    shmemx_init_attr_t ours = SHMEMX_INIT_ATTR_INITIALIZER;
    shmemx_uniqueid_t id;

    static_assert(sizeof id == sizeof *args->id, "an id of ours is one of NVSHMEM's");
    ours.thread_level = SHMEM_THREAD_SERIALIZED;
    ours.cuda_device = wsh_nv_attr_device(attr);
    if (!args->id)
        return wsh_nv_refuse(
            "nvshmemx_init_attr: the unique id is NULL; fill attr by nvshmemx_set_attr_uniqueid_args");
    memcpy(&id, args->id, sizeof id);
    if (shmemx_set_attr_uniqueid_args(args->myrank, args->nranks, &id, &ours))
        return NVSHMEMX_ERROR_INVALID_VALUE;
    return shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID | SHMEMX_INIT_ATTACH_GPU, &ours)
               ? NVSHMEMX_ERROR_INTERNAL
               : NVSHMEMX_SUCCESS;
}

static inline int wsh_nv_init_by_comm(const nvshmemx_init_attr_t *attr)
{
    shmemx_init_attr_t ours = SHMEMX_INIT_ATTR_INITIALIZER;

    ours.thread_level = SHMEM_THREAD_SERIALIZED;
    ours.cuda_device = wsh_nv_attr_device(attr);
    ours.mpi_comm = attr->mpi_comm;
    return shmemx_init_attr(SHMEMX_INIT_WITH_MPI_COMM | SHMEMX_INIT_ATTACH_GPU, &ours)
               ? NVSHMEMX_ERROR_INTERNAL
               : NVSHMEMX_SUCCESS;
}

WSH_NV_HOST int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t *uniqueid)
{
    shmemx_uniqueid_t id;

    if (!uniqueid)
        return wsh_nv_refuse(
            "nvshmemx_get_uniqueid: uniqueid is NULL; pass the address of a nvshmemx_uniqueid_t");
    if (shmemx_get_uniqueid(&id))
        return NVSHMEMX_ERROR_INTERNAL;
    memcpy(uniqueid, &id, sizeof id);
    return NVSHMEMX_SUCCESS;
}

/* The attributes but for mpi_comm need not be initialized before. */
WSH_NV_HOST int nvshmemx_set_attr_uniqueid_args(const int myrank, const int nranks,
                                                const nvshmemx_uniqueid_t *uniqueid,
                                                nvshmemx_init_attr_t *attr)
{
    if (!uniqueid || !attr)
        return wsh_nv_refuse("nvshmemx_set_attr_uniqueid_args: uniqueid or attr is NULL");
    attr->args.uid_args.id = (nvshmemx_uniqueid_t *)(uintptr_t)uniqueid;
    attr->args.uid_args.myrank = myrank;
    attr->args.uid_args.nranks = nranks;
    return NVSHMEMX_SUCCESS;
}

WSH_NV_HOST int nvshmemx_set_attr_mpi_comm_args(void *mpi_comm, nvshmemx_init_attr_t *nvshmem_attr)
{
    if (!mpi_comm || !nvshmem_attr)
        return wsh_nv_refuse("nvshmemx_set_attr_mpi_comm_args: mpi_comm or nvshmem_attr is NULL");
    nvshmem_attr->mpi_comm = mpi_comm;
    return NVSHMEMX_SUCCESS;
}

WSH_NV_HOST int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t *attr)
{
    const unsigned named = NVSHMEMX_INIT_WITH_UNIQUEID | NVSHMEMX_INIT_WITH_MPI_COMM,
                   all = named | NVSHMEMX_INIT_WITH_SHMEM | NVSHMEMX_INIT_THREAD_PES;

    if (flags & ~all)
        return wsh_nv_refuse("nvshmemx_init_attr: flags has bits that are no NVSHMEMX_INIT_ constant");
    if (flags & named && !attr)
        return wsh_nv_refuse(
            "nvshmemx_init_attr: attr is NULL; flags says that it names an id or a communicator");
    if (flags & NVSHMEMX_INIT_WITH_UNIQUEID)
        return wsh_nv_init_by_id(attr);
    if (flags & NVSHMEMX_INIT_WITH_MPI_COMM)
        return wsh_nv_init_by_comm(attr);
    return wsh_nv_init(SHMEM_THREAD_SERIALIZED) ? NVSHMEMX_ERROR_INTERNAL : NVSHMEMX_SUCCESS;
}

/* As NVSHMEM's, it ends the process where the job cannot start. */
WSH_NV_HOST int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t *attributes)
{
    int status = nvshmemx_hostlib_init_attr(flags, attributes);

    if (status)
        exit(-1);
    return status;
}

#endif
#endif
