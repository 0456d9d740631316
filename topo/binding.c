/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds where each PE of a host runs: its GPU, or else its processors. Pure, but for reading one variable. */
#include "topo/binding.h"

#include "base/err.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A GPU by index, PCI address or (the beginning of) its UUID; -1 if there is none such. */
static int gpu_named(const struct wsh_topo *topo, const char *word)
{
    char *end;
    long index = strtol(word, &end, 10);

    if (end != word && !*end)
        return index >= 0 && index < topo->n_gpus ? (int)index : -1;
    for (int i = 0; i < topo->n_gpus; i++)
        if (!strcasecmp(word, topo->gpu[i].pci) ||
            (strlen(word) > 4 && !strncasecmp(word, topo->gpu[i].uuid, strlen(word))))
            return i;
    return -1;
}

/* Reads the list up to the first word that names no GPU; `bad` holds that word, or is empty. */
static int read_list(const struct wsh_topo *topo, const char *text, int *list, char *bad, size_t size)
{
    int n = 0;

    *bad = '\0';
    for (const char *at = text; *at && n < WSH_TOPO_GPUS; at += *at == ',') {
        size_t len = strcspn(at, ",");
        int gpu;

        snprintf(bad, size, "%.*s", (int)len, at);
        gpu = gpu_named(topo, bad);
        if (gpu < 0)
            return n;
        *bad = '\0';
        list[n++] = gpu;
        at += len;
    }
    return n;
}

static void take_every_gpu(struct wsh_binding *w)
{
    w->n_list = w->topo->n_gpus;
    for (int i = 0; i < w->n_list; i++)
        w->list[i] = i;
}

static int read_hint(struct wsh_binding *w, const char *hint)
{
    const char *why = w->topo->n_gpus ? NULL : wsh_topo_lacks();
    char bad[64];

    if (!strcasecmp(hint, "none"))
        return 0;
    if (why) {
        wsh_error("SHMEM_PE_GPU='%s': GPUs are not found without hwloc: %s", hint, why);
        return -EINVAL;
    }
    w->n_list = read_list(w->topo, hint, w->list, bad, sizeof bad);
    if (!*bad && w->n_list)
        return 0;
    wsh_error("SHMEM_PE_GPU='%s' is not valid: this host has no GPU '%s'; use none, numbers from 0 to %d, or "
              "PCI addresses "
              "as warpshmem-info --topo prints them, separated by commas",
              hint, bad, w->topo->n_gpus - 1);
    return -EINVAL;
}

/*
 * Numbers in CUDA_VISIBLE_DEVICES count what the process may open. Where a container or Slurm gives each PE one GPU,
 * every PE reads 0: such a 0 says nothing, except to the PE of rank 0, and each takes the GPU of its rank. Part of
 * a GPU (MIG) cannot be found by its name.
 */
static void read_visible(struct wsh_binding *w)
{
    const char *visible = wsh_env_foreign("CUDA_VISIBLE_DEVICES");
    char bad[64];

    if (!visible || !strncasecmp(visible, "MIG-", 4)) {
        take_every_gpu(w);
        return;
    }
    w->n_list = read_list(w->topo, visible, w->list, bad, sizeof bad);
    if (w->n_list == 1 && !strcmp(visible, "0"))
        take_every_gpu(w);
}

int wsh_binding_find(struct wsh_binding *w, const struct wsh_topo *topo, const char *hint,
                     const struct wsh_topo_local *local)
{
    int rc = 0;

    memset(w, 0, sizeof *w);
    w->topo = topo;
    w->local = local;
    if (local->gpu && (w->list[0] = gpu_named(topo, local->gpu)) >= 0)
        w->n_list = 1;
    else if (hint)
        rc = read_hint(w, hint);
    else
        read_visible(w);
    w->own = w->n_list ? w->list[local->rank % w->n_list] : -1;
    return rc;
}

static int guess_gpu(const struct wsh_binding *w, int rank)
{
    int n = w->topo->n_gpus, away = rank - w->local->rank;

    if (w->n_list != 1)
        return w->n_list ? w->list[rank % w->n_list] : -1;
    return ((w->own + away) % n + n) % n;
}

/* Location `i` of the machine's NUMA nodes or, where this PE is bound to several of them, of its packages. */
static struct wsh_topo_location part_location(const struct wsh_topo *topo, int i)
{
    struct wsh_topo_location location = topo->here;

    if (topo->here.numa >= 0)
        return topo->node[i];
    location.package = i;
    return location;
}

static int own_part(const struct wsh_topo *topo, int n)
{
    for (int i = 0; i < n; i++)
        if (topo->here.numa >= 0 ? topo->node[i].numa == topo->here.numa : i == topo->here.package)
            return i;
    return -1;
}

/*
 * PEs are bound in blocks or in turn: whichever puts this PE where it is. A wrong guess about the others costs balance,
 * never this PE's own location.
 */
static struct wsh_topo_location guess_processors(const struct wsh_binding *w, int rank)
{
    const struct wsh_topo *topo = w->topo;
    int nodes = topo->numa_nodes < WSH_TOPO_NODES ? topo->numa_nodes : WSH_TOPO_NODES;
    int n = topo->here.numa >= 0 ? nodes : topo->packages, own = own_part(topo, n);
    int pes = w->local->n, me = w->local->rank;

    if (own < 0 || rank == me)
        return topo->here;
    if (own == me % n && own != (int)((long)me * n / pes))
        return part_location(topo, rank % n);
    return part_location(topo, (int)((long)rank * n / pes));
}

static int pe_reported(const struct wsh_binding *w, int rank, struct wsh_topo_location *location)
{
    const struct wsh_topo_pe *pe = &w->local->pe[rank];

    *location = (struct wsh_topo_location){.numa = pe->numa, .package = pe->package, .root = -1};
    return *pe->gpu ? gpu_named(w->topo, pe->gpu) : -1;
}

int wsh_binding_of(const struct wsh_binding *w, int rank, struct wsh_topo_location *location)
{
    int gpu;

    if (w->local->pe) {
        gpu = pe_reported(w, rank, location);
    } else {
        *location = guess_processors(w, rank);
        gpu = guess_gpu(w, rank);
    }
    if (gpu >= 0)
        *location = w->topo->gpu[gpu].location;
    return gpu;
}
