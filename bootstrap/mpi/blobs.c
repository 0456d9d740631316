/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every PE of a host packs the host's blobs, to the same bytes; an allgather in which each gives a slice of them needs
 * no communicator of first PEs, and nobody hands out afterwards what these have got.
 */
#include "bootstrap/mpi/blobs.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a PE publishes first, to the PEs of its host. */
struct local_head {
    uint64_t len;
    uint32_t pe, zero;
};

/* What a PE publishes then, to all PEs. */
struct head {
    uint64_t size; /* of its host's blobs, packed */
    uint32_t leader, zero;
};

/* Of a host, by its first PE: how many PEs it has, and where its bytes are to go, of which `left` have not come. */
struct host {
    uint32_t members;
    size_t at, left;
};

struct gathering {
    const struct wsh_blobs_mpi *group;
    struct head mine, *heads; /* [n_pes] */
    void *packed;             /* mine.size bytes */
    struct host *hosts;       /* [n_pes] */
    size_t slice, total;
};

static void *memory(size_t n, size_t size)
{
    void *bytes = calloc(n ? n : 1, size ? size : 1);

    if (!bytes)
        wsh_error("bootstrap: out of memory (%zu bytes)", n * size);
    return bytes;
}

static int other_program(size_t size)
{
    wsh_error("a PE published %zu bytes; do all PEs run the same program?", size);
    return -EPROTO;
}

/* Among the PEs of this host: all are padded to the longest. */
static int local_blobs(struct gathering *g, const struct local_head *heads, const void *blob, size_t len,
                       size_t stride)
{
    size_t n = (size_t)g->group->local_size;
    struct wsh_host_part *parts = memory(n, sizeof *parts);
    char *mine = memory(1, stride), *all = memory(n, stride);
    int rc = parts && mine && all ? 0 : -ENOMEM;
    size_t size = 0;

    if (!rc) {
        memcpy(mine, blob, len);
        rc = g->group->allgather(g->group->context, true, mine, stride, all);
    }
    for (size_t i = 0; i < n && !rc; i++)
        parts[i] = (struct wsh_host_part){heads[i].pe, all + i * stride, (size_t)heads[i].len};
    if (!rc)
        rc = wsh_host_blob_pack(parts, (int)n, &g->packed, &size);
    if (!rc)
        g->mine = (struct head){size, heads[0].pe, 0};
    free(parts);
    free(mine);
    free(all);
    return rc;
}

static int local_gather(struct gathering *g, const void *blob, size_t len)
{
    struct local_head mine = {len, (uint32_t)g->group->me, 0};
    struct local_head *heads = memory((size_t)g->group->local_size, sizeof *heads);
    int rc = heads ? g->group->allgather(g->group->context, true, &mine, sizeof mine, heads) : -ENOMEM;
    size_t stride = 0;

    for (int i = 0; i < g->group->local_size && !rc; i++)
        stride = heads[i].len > stride ? (size_t)heads[i].len : stride;
    if (!rc && stride > WSH_HOST_BLOB_PART)
        rc = other_program(stride);
    if (!rc)
        rc = local_blobs(g, heads, blob, len, stride);
    free(heads);
    return rc;
}

/* What all say of a host is the same. */
static bool head_fits(const struct gathering *g, int pe)
{
    const struct head *head = &g->heads[pe];

    return head->leader <= (uint32_t)pe && head->size && g->heads[head->leader].leader == head->leader &&
           g->heads[head->leader].size == head->size;
}

/* Where each host's bytes go, and the longest slice. */
static int hosts_lay_out(struct gathering *g)
{
    for (int pe = 0; pe < g->group->n_pes; pe++) {
        if (!head_fits(g, pe))
            return other_program((size_t)g->heads[pe].size);
        g->hosts[g->heads[pe].leader].members++;
    }
    for (int pe = 0; pe < g->group->n_pes; pe++) {
        struct host *host = &g->hosts[pe];
        size_t slice;

        if (!host->members)
            continue;
        host->left = (size_t)g->heads[pe].size;
        slice = (host->left - 1) / host->members + 1;
        if (slice > 2 * WSH_HOST_BLOB_PART)
            return other_program(host->left);
        g->slice = slice > g->slice ? slice : g->slice;
        host->at = g->total;
        g->total += sizeof g->heads->size + host->left;
    }
    return 0;
}

/* Of a host's bytes; those behind the last are zeros. */
static void slice_make(const struct gathering *g, char *mine)
{
    size_t size = (size_t)g->mine.size, from = (size_t)g->group->local_rank * g->slice;

    if (from < size)
        memcpy(mine, (const char *)g->packed + from, size - from < g->slice ? size - from : g->slice);
}

static void slices_join(struct gathering *g, const char *slices, char *all)
{
    for (int pe = 0; pe < g->group->n_pes; pe++) {
        struct host *host = &g->hosts[g->heads[pe].leader];
        size_t n = host->left < g->slice ? host->left : g->slice;

        if (g->heads[pe].leader == (uint32_t)pe) {
            memcpy(all + host->at, &g->heads[pe].size, sizeof g->heads->size);
            host->at += sizeof g->heads->size;
        }
        memcpy(all + host->at, slices + (size_t)pe * g->slice, n);
        host->at += n;
        host->left -= n;
    }
}

static int slices_gather(struct gathering *g, struct wsh_host_blobs *blobs)
{
    char *mine = memory(1, g->slice), *slices = memory((size_t)g->group->n_pes, g->slice), *all = NULL;
    int rc = mine && slices ? 0 : -ENOMEM;

    if (!rc) {
        slice_make(g, mine);
        rc = g->group->allgather(g->group->context, false, mine, g->slice, slices);
    }
    if (!rc)
        rc = (all = memory(1, g->total)) ? 0 : -ENOMEM;
    if (!rc) {
        slices_join(g, slices, all);
        rc = wsh_host_blobs_open(blobs, all, g->total, g->group->n_pes);
    }
    free(mine);
    free(slices);
    return rc;
}

static int hosts_gather(struct gathering *g, struct wsh_host_blobs *blobs)
{
    size_t n = (size_t)g->group->n_pes;
    int rc;

    g->heads = memory(n, sizeof *g->heads);
    g->hosts = memory(n, sizeof *g->hosts);
    if (!g->heads || !g->hosts)
        return -ENOMEM;
    rc = g->group->allgather(g->group->context, false, &g->mine, sizeof g->mine, g->heads);
    if (!rc)
        rc = hosts_lay_out(g);
    return rc ? rc : slices_gather(g, blobs);
}

int wsh_blobs_mpi_gather(const struct wsh_blobs_mpi *group, const void *blob, size_t len,
                         struct wsh_host_blobs *blobs)
{
    struct gathering g = {.group = group};
    int rc;

    *blobs = (struct wsh_host_blobs){0};
    rc = local_gather(&g, blob, len);
    if (!rc)
        rc = hosts_gather(&g, blobs);
    if (!rc)
        wsh_info(WSH_SUB_BOOTSTRAP, "addresses of %d PEs: %zu bytes; of each PE %zu in slices of %zu",
                 group->n_pes, g.total, len, g.slice);
    free(g.packed);
    free(g.heads);
    free(g.hosts);
    return rc;
}
