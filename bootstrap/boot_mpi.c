/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins the processes of an MPI communicator, through a plugin that is built with the program's MPI. */
#define _GNU_SOURCE
#include "bootstrap/methods.h"

#include "bootstrap/blob.h"
#include "bootstrap/mpi/plugin.h"
#include "base/err.h"
#include "base/log.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLUGIN_FILE "libwarpshmem_bootstrap_mpi.so"
#define BLOB_MAX ((size_t)64 << 20)

/* What every PE published in a round, each at a multiple of `stride`. */
struct round {
    uint64_t *lens;
    char *blobs;
    size_t stride;
};

struct mpi {
    const struct wsh_mpi_plugin *plugin;
    void *handle;
    double hang_seconds;
    struct round *rounds;
    int n_rounds;
};

/*
 * What PEs agree on before the first round. Those of PE 0 count, but for the generation, of which the largest does.
 */
struct greeting {
    struct wsh_secret secret;
    uint32_t generation;
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

static int gather(const struct mpi *mpi, const char *what, const void *mine, size_t bytes, void *all)
{
    int result = mpi->plugin->allgather(mpi->handle, mine, bytes, all);

    return result ? mpi_failed(mpi, what, result) : collective_await(mpi, what);
}

static int greet(struct wsh_boot *boot)
{
    struct greeting mine = {.generation = generations + 1};
    struct greeting *all = calloc((size_t)boot->n_pes, sizeof *all);
    int rc = all ? wsh_random_fill(&mine.secret, sizeof mine.secret)
                 : out_of_memory((size_t)boot->n_pes * sizeof *all);

    if (rc && all)
        wsh_error("no random bytes from the kernel: getrandom: %s", wsh_strerror(rc));
    if (!rc)
        rc = gather(boot->priv, "shmem_init", &mine, sizeof mine, all);
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

    for (int i = 0; i < mpi->n_rounds; i++) {
        free(mpi->rounds[i].lens);
        free(mpi->rounds[i].blobs);
    }
    free(mpi->rounds);
    mpi->plugin->close(mpi->handle);
    free(mpi);
    boot->priv = NULL;
}

/* MPI's own start is its launcher's business; its transport takes the secret to the PEs. */
static int comm_join(struct wsh_boot *boot, struct mpi *mpi, const struct wsh_env *env)
{
    struct wsh_mpi_place place;
    int result;

    mpi->plugin = plugin_load(env);
    if (!mpi->plugin)
        return -ENOENT;
    mpi->hang_seconds = env->hang_seconds;
    result = mpi->plugin->open(boot->request->mpi_comm, &mpi->handle, &place);
    if (result)
        return mpi_failed(mpi, "shmem_init", result);
    boot->my_pe = place.rank;
    boot->n_pes = place.size;
    boot->local_rank = place.local_rank;
    boot->local_size = place.local_size;
    boot->one_machine = place.local_size == place.size;
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
    rc = greet(boot);
    if (rc)
        mpi_close(boot);
    return rc;
}

static int rounds_grow(struct mpi *mpi, int n_rounds)
{
    void *more = realloc(mpi->rounds, (size_t)n_rounds * sizeof *mpi->rounds);

    if (!more)
        return out_of_memory((size_t)n_rounds * sizeof *mpi->rounds);
    mpi->rounds = more;
    for (; mpi->n_rounds < n_rounds; mpi->n_rounds++)
        memset(&mpi->rounds[mpi->n_rounds], 0, sizeof *mpi->rounds);
    return 0;
}

static int lengths_gather(struct wsh_boot *boot, struct round *round, uint64_t len)
{
    int rc;

    round->lens = calloc((size_t)boot->n_pes, sizeof *round->lens);
    if (!round->lens)
        return out_of_memory((size_t)boot->n_pes * sizeof *round->lens);
    rc = gather(boot->priv, "exchange of addresses", &len, sizeof len, round->lens);
    for (int pe = 0; !rc && pe < boot->n_pes; pe++)
        round->stride = round->lens[pe] > round->stride ? round->lens[pe] : round->stride;
    if (rc || round->stride <= BLOB_MAX)
        return rc;
    wsh_error("a PE published %zu bytes; do all PEs run the same program?", round->stride);
    return -EPROTO;
}

/* All are padded to the longest. */
static int blobs_gather(struct wsh_boot *boot, struct round *round, const void *bytes, size_t size)
{
    char *mine = calloc(1, round->stride);
    int rc;

    round->blobs = calloc((size_t)boot->n_pes, round->stride);
    if (!mine || !round->blobs) {
        rc = out_of_memory((size_t)boot->n_pes * round->stride);
    } else {
        memcpy(mine, bytes, size);
        rc = gather(boot->priv, "exchange of addresses", mine, round->stride, round->blobs);
    }
    free(mine);
    return rc;
}

static int mpi_publish(struct wsh_boot *boot, int round, const void *blob, size_t len)
{
    struct wsh_blob_id id = {boot->generation, (uint32_t)round, (uint32_t)boot->my_pe};
    struct mpi *mpi = boot->priv;
    void *bytes;
    size_t size;
    int rc = round >= mpi->n_rounds ? rounds_grow(mpi, round + 1) : 0;

    if (!rc)
        rc = wsh_blob_wrap(&id, blob, len, &bytes, &size);
    if (rc)
        return rc;
    rc = lengths_gather(boot, &mpi->rounds[round], size);
    if (!rc)
        rc = blobs_gather(boot, &mpi->rounds[round], bytes, size);
    free(bytes);
    return rc;
}

static int mpi_lookup(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len)
{
    struct wsh_blob_id id = {boot->generation, (uint32_t)round, (uint32_t)pe};
    const struct mpi *mpi = boot->priv;
    const struct round *from = &mpi->rounds[round];

    return wsh_blob_unwrap(&id, from->blobs + (size_t)pe * from->stride, from->lens[pe], blob, len);
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
    .barrier = mpi_barrier,
    .abort = mpi_abort,
};
