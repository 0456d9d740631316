/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap from an MPI communicator, as far as it calls MPI. For another MPI, in the folder above bootstrap/:
 *   mpicc -O2 -shared -fPIC -I. -o libwarpshmem_bootstrap_mpi.so bootstrap/mpi/plugin.c
 *   export SHMEM_BOOTSTRAP_MPI_PLUGIN=$PWD/libwarpshmem_bootstrap_mpi.so
 */
#include "bootstrap/mpi/plugin.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION < 3
#error "MPI 3.0 or newer is needed"
#endif

#ifdef OPEN_MPI
#define BUILT_WITH_OPEN_MPI 1
#else
#define BUILT_WITH_OPEN_MPI 0
#endif

struct handle {
    MPI_Comm comm, local;
    MPI_Request request;
};

/*
 * Handles of different MPIs look alike, and the program's library is found before the plugin's own. Open MPI's handles
 * are pointers, those of MPICH and its relatives, which share one binary interface, are numbers.
 */
static int mpi_check(void)
{
    char text[16384]; /* the other MPI's maximum may be larger than this one's: 8192 against 256 bytes */
    int yes, len;

    MPI_Get_library_version(text, &len);
    if (!!strstr(text, "Open MPI") != BUILT_WITH_OPEN_MPI)
        return WSH_MPI_OTHER;
    MPI_Initialized(&yes);
    if (!yes)
        return WSH_MPI_NOT_INITIALIZED;
    MPI_Finalized(&yes);
    return yes ? WSH_MPI_FINALIZED : WSH_MPI_DONE;
}

static int read_ranks(struct handle *mine, struct wsh_mpi_ranks *ranks)
{
    int rc;

    MPI_Comm_rank(mine->comm, &ranks->rank);
    MPI_Comm_size(mine->comm, &ranks->size);
    rc = MPI_Comm_split_type(mine->comm, MPI_COMM_TYPE_SHARED, ranks->rank, MPI_INFO_NULL, &mine->local);
    if (rc)
        return rc;
    MPI_Comm_rank(mine->local, &ranks->local_rank);
    MPI_Comm_size(mine->local, &ranks->local_size);
    return MPI_SUCCESS;
}

static void plugin_close(void *handle)
{
    struct handle *mine = handle;

    if (!mpi_check()) {
        MPI_Comm_free(&mine->comm);
        if (mine->local != MPI_COMM_NULL)
            MPI_Comm_free(&mine->local);
    }
    free(mine);
}

static int plugin_open(const void *comm, void **handle, struct wsh_mpi_ranks *ranks)
{
    const MPI_Comm *theirs = comm;
    int inter = 0, rc = mpi_check();
    struct handle *mine;

    if (rc)
        return rc;
    if (!theirs || *theirs == MPI_COMM_NULL || MPI_Comm_test_inter(*theirs, &inter) || inter)
        return WSH_MPI_NO_COMM;
    mine = malloc(sizeof *mine);
    if (!mine)
        return WSH_MPI_NO_MEMORY;
    mine->request = MPI_REQUEST_NULL;
    mine->local = MPI_COMM_NULL;
    rc = MPI_Comm_dup(*theirs, &mine->comm);
    if (rc) {
        free(mine);
        return rc;
    }
    MPI_Comm_set_errhandler(mine->comm, MPI_ERRORS_RETURN);
    rc = read_ranks(mine, ranks);
    if (rc)
        plugin_close(mine);
    else
        *handle = mine;
    return rc;
}

static int plugin_allgather(void *handle, int local, const void *mine, size_t bytes, void *all)
{
    struct handle *to = handle;
    int rc = bytes > INT_MAX ? WSH_MPI_TOO_LONG : mpi_check(), len = (int)bytes;

    return rc ? rc
              : MPI_Iallgather(mine, len, MPI_BYTE, all, len, MPI_BYTE, local ? to->local : to->comm,
                               &to->request);
}

static int plugin_barrier(void *handle)
{
    struct handle *to = handle;
    int rc = mpi_check();

    return rc ? rc : MPI_Ibarrier(to->comm, &to->request);
}

static int plugin_test(void *handle, int *done)
{
    struct handle *to = handle;

    return MPI_Test(&to->request, done, MPI_STATUS_IGNORE);
}

/*
 * Over any other communicator MPICH 4.0 ends nobody and does not return; Open MPI ends all processes whichever it is.
 */
static void plugin_abort(int status)
{
    if (!mpi_check())
        MPI_Abort(MPI_COMM_WORLD, status);
}

static void plugin_explain(int result, char *text, size_t size)
{
    static const char *const own[] = {
        "no error",
        "MPI is not initialized; call MPI_Init first",
        "MPI is finalized; call shmem_finalize before MPI_Finalize",
        "the program runs with another MPI than the plugin was built with; build bootstrap/mpi/plugin.c with "
        "the "
        "program's mpicc and name it in SHMEM_BOOTSTRAP_MPI_PLUGIN",
        "the communicator is NULL, MPI_COMM_NULL or an intercommunicator",
        "out of memory",
        "more than 2 GiB a PE",
    };
    char theirs[MPI_MAX_ERROR_STRING] = "an unknown error";
    int len;

    if (result <= 0 && -result < (int)(sizeof own / sizeof own[0])) {
        snprintf(text, size, "%s", own[-result]);
        return;
    }
    MPI_Error_string(result, theirs, &len);
    theirs[strcspn(theirs, "\n")] = '\0';
    snprintf(text, size, "%s", theirs);
}

extern const struct wsh_mpi_plugin wsh_mpi_plugin;

__attribute__((visibility("default"))) const struct wsh_mpi_plugin wsh_mpi_plugin = {
    .version = WSH_MPI_PLUGIN_VERSION,
    .size = sizeof wsh_mpi_plugin,
    .open = plugin_open,
    .close = plugin_close,
    .allgather = plugin_allgather,
    .barrier = plugin_barrier,
    .test = plugin_test,
    .abort = plugin_abort,
    .explain = plugin_explain,
};
