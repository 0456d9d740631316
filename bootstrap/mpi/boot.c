/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins the processes of an MPI communicator, through a plugin that is built with the program's MPI. */
#define _GNU_SOURCE
#include "bootstrap/methods.h"

#include "bootstrap/mpi/blobs.h"
#include "bootstrap/mpi/plugin.h"
#include "bootstrap/blob/rounds.h"
#include "base/err.h"
#include "base/log.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLUGIN_FILE "libwarpshmem_bootstrap_mpi.so"
#define GREETING_VERSION 2u /* of all that follows */

struct mpi {
    const struct wsh_mpi_plugin *plugin;
    void *handle;
    double hang_seconds;
    struct wsh_rounds rounds;
};

/*
 * What PEs agree on before the first round. Those of PE 0 count, but for the generation, of which the largest does.
 */
struct greeting {
    struct wsh_secret secret;
    uint32_t generation, version;
};

/* Jobs of this process from a communicator: a new one has a number that none of its PEs has used. */
static uint32_t generations;

static int out_of_memory(size_t len)
{
    wsh_error("bootstrap: out of memory (%zu bytes)", len);
    return -ENOMEM;
}

static int mpi_failed(const struct mpi *mpi, const char *what, int result)
{
    char text[512];

    mpi->plugin->explain(result, text, sizeof text);
    wsh_error("%s through MPI: %s", what, text);
    return -EIO;
}

/* Beside this library, unless the setting names another place. */
static void plugin_path(const struct wsh_env *env, char *path, size_t size)
{
    Dl_info info;
    const char *end = NULL;

    if (!env->mpi_plugin && dladdr(&generations, &info) && info.dli_fname)
        end = strrchr(info.dli_fname, '/');
    if (end)
        snprintf(path, size, "%.*s/%s", (int)(end - info.dli_fname), info.dli_fname, PLUGIN_FILE);
    else
        snprintf(path, size, "%s", env->mpi_plugin ? env->mpi_plugin : PLUGIN_FILE);
}

/* It stays loaded: MPI may have noted addresses in it. */
static const struct wsh_mpi_plugin *plugin_load(const struct wsh_env *env)
{
    const struct wsh_mpi_plugin *plugin;
    char path[PATH_MAX];
    void *library;

    plugin_path(env, path, sizeof path);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    plugin = library ? dlsym(library, WSH_MPI_PLUGIN_SYMBOL) : NULL;
    if (!plugin) {
        wsh_error("no start from an MPI communicator: %s; build bootstrap/mpi/plugin.c with the program's "
                  "mpicc and "
                  "name it in SHMEM_BOOTSTRAP_MPI_PLUGIN",
                  dlerror());
        return NULL;
    }
    if (plugin->version == WSH_MPI_PLUGIN_VERSION && plugin->size == sizeof *plugin)
        return plugin;
    wsh_error("%s is of another version (%u, this library wants %u); build it anew from this version's "
              "bootstrap/mpi/plugin.c",
              path, plugin->version, WSH_MPI_PLUGIN_VERSION);
    return NULL;
}

/* Quickly at first, as a rule the others are there; then without taking the processor from PEs that still come. */
static int collective_await(const struct mpi *mpi, const char *what)
{
    double waited = 0, said = 0;
    int done = 0, result;

    for (int n = 0; !(result = mpi->plugin->test(mpi->handle, &done)) && !done; n++) {
        struct timespec pause = {0, n < 200 ? 20000 : 1000000};

        if (n < 100)
            continue;
        nanosleep(&pause, NULL);
        waited += (double)pause.tv_nsec * 1e-9;
        if (mpi->hang_seconds > 0 && waited >= said + mpi->hang_seconds) {
            said += mpi->hang_seconds;
            wsh_warn("%s: waiting for other PEs since %.0f s; those that do not say this are missing "
                     "(SHMEM_HANG_SECONDS sets when this is said)",
                     what, said);
        }
    }
    return result ? mpi_failed(mpi, what, result) : 0;
}

static int gather(const struct mpi *mpi, const char *what, bool local, const void *mine, size_t bytes,
                  void *all)
{
    int result = mpi->plugin->allgather(mpi->handle, local, mine, bytes, all);

    return result ? mpi_failed(mpi, what, result) : collective_await(mpi, what);
}

static int versions_check(const struct greeting *all, int n_pes)
{
    for (int pe = 0; pe < n_pes; pe++)
        if (all[pe].version != GREETING_VERSION) {
            wsh_error("PE %d runs another version of warpshmem (bootstrap %u, ours %u); install one version "
                      "on all hosts",
                      pe, all[pe].version, GREETING_VERSION);
            return -EPROTO;
        }
    return 0;
}

static int greet(struct wsh_boot *boot)
{
    struct greeting mine = {.generation = generations + 1, .version = GREETING_VERSION};
    struct greeting *all = calloc((size_t)boot->n_pes, sizeof *all);
    int rc = all ? wsh_random_fill(&mine.secret, sizeof mine.secret)
                 : out_of_memory((size_t)boot->n_pes * sizeof *all);

    if (rc && all)
        wsh_error("no random bytes from the kernel: getrandom: %s", wsh_strerror(rc));
    if (!rc)
        rc = gather(boot->priv, "shmem_init", false, &mine, sizeof mine, all);
    if (!rc)
        rc = versions_check(all, boot->n_pes);
    for (int pe = 0; !rc && pe < boot->n_pes; pe++)
        generations = all[pe].generation > generations ? all[pe].generation : generations;
    if (!rc) {
        boot->secret = all[0].secret;
        boot->has_secret = true;
        boot->generation = generations;
    }
    free(all);
    return rc;
}

static void mpi_close(struct wsh_boot *boot)
{
    struct mpi *mpi = boot->priv;

    wsh_rounds_fini(&mpi->rounds);
    mpi->plugin->close(mpi->handle);
    free(mpi);
    boot->priv = NULL;
}

/* MPI's own start is its launcher's business; its transport takes the secret to the PEs. */
static int comm_join(struct wsh_boot *boot, struct mpi *mpi, const struct wsh_env *env)
{
    struct wsh_mpi_ranks ranks;
    int result;

    mpi->plugin = plugin_load(env);
    if (!mpi->plugin)
        return -ENOENT;
    mpi->hang_seconds = env->hang_seconds;
    result = mpi->plugin->open(boot->request->mpi_comm, &mpi->handle, &ranks);
    if (result)
        return mpi_failed(mpi, "shmem_init", result);
    boot->my_pe = ranks.rank;
    boot->n_pes = ranks.size;
    boot->local_rank = ranks.local_rank;
    boot->local_size = ranks.local_size;
    boot->one_machine = ranks.local_size == ranks.size;
    snprintf(boot->launcher, sizeof boot->launcher, "mpi");
    return 0;
}

static int mpi_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    struct mpi *mpi = calloc(1, sizeof *mpi);
    int rc = mpi ? comm_join(boot, mpi, env) : out_of_memory(sizeof *mpi);

    if (rc) {
        free(mpi);
        return rc;
    }
    boot->priv = mpi;
    wsh_rounds_init(&mpi->rounds);
    rc = greet(boot);
    if (rc)
        mpi_close(boot);
    return rc;
}

static int allgather(void *context, bool local, const void *mine, size_t bytes, void *all)
{
    return gather(context, "exchange of addresses", local, mine, bytes, all);
}

static int mpi_publish(struct wsh_boot *boot, int round, const void *blob, size_t len)
{
    const struct wsh_blobs_mpi group = {boot->my_pe,      boot->n_pes, boot->local_rank,
                                        boot->local_size, allgather,   boot->priv};
    struct mpi *mpi = boot->priv;
    struct wsh_host_blobs blobs;
    int rc = wsh_blobs_mpi_gather(&group, blob, len, &blobs);

    return rc ? rc : wsh_rounds_keep(&mpi->rounds, round, &blobs);
}

static int mpi_lookup(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len)
{
    struct mpi *mpi = boot->priv;

    return wsh_rounds_find(&mpi->rounds, round, pe, blob, len);
}

static int mpi_barrier(struct wsh_boot *boot, const char *what)
{
    const struct mpi *mpi = boot->priv;
    int result = mpi->plugin->barrier(mpi->handle);

    return result ? mpi_failed(mpi, what, result) : collective_await(mpi, what);
}

static void mpi_abort(struct wsh_boot *boot, int status)
{
    const struct mpi *mpi = boot->priv;

    mpi->plugin->abort(status);
}

const struct wsh_boot_ops wsh_boot_mpi_ops = {
    .name = "mpi",
    .open = mpi_open,
    .close = mpi_close,
    .publish = mpi_publish,
    .lookup = mpi_lookup,
    .keeps = true,
    .barrier = mpi_barrier,
    .abort = mpi_abort,
};
