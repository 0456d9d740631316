/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the parts of an exchange and makes one answer of them. */
#include "bootstrap/uid/gather.h"

#include "base/invariant.h"
#include "bootstrap/blob/host_blobs.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int wsh_uid_gather_init(struct wsh_uid_gather *gather, int n)
{
    *gather = (struct wsh_uid_gather){.n = n};
    gather->part = calloc((size_t)n, sizeof *gather->part);
    return gather->part ? 0 : -ENOMEM;
}

static void parts_drop(struct wsh_uid_gather *gather)
{
    for (int i = 0; i < gather->n && gather->part; i++) {
        free(gather->part[i].bytes);
        gather->part[i].bytes = NULL;
    }
    gather->have = 0;
}

void wsh_uid_gather_fini(struct wsh_uid_gather *gather)
{
    parts_drop(gather);
    free(gather->part);
    gather->part = NULL;
}

int wsh_uid_gather_take(struct wsh_uid_gather *gather, int at, struct wsh_uid_conn *conn)
{
    if (!gather->have) {
        gather->type = conn->head.type;
        gather->arg = conn->head.arg;
        gather->first = conn->rank;
    }
    if (gather->part[at].bytes || gather->type != conn->head.type || gather->arg != conn->head.arg)
        return -EPROTO;
    gather->part[at].bytes = conn->body;
    gather->part[at].len = conn->head.len;
    gather->have++;
    WSH_INVARIANT(gather->have <= gather->n);
    conn->body = NULL;
    return 0;
}

void wsh_uid_gather_drop(struct wsh_uid_gather *gather, int at)
{
    gather->have -= gather->part[at].bytes != NULL;
    free(gather->part[at].bytes);
    gather->part[at].bytes = NULL;
}

const char *wsh_uid_gather_name(uint32_t type)
{
    return type == WSH_UID_BARRIER ? "a barrier"
           : type == WSH_UID_HOST  ? "an exchange of a host"
                                   : "an exchange";
}

static size_t answer_len(const struct wsh_uid_gather *gather)
{
    size_t len = (size_t)gather->n * sizeof(uint64_t);

    if (gather->type == WSH_UID_BARRIER || gather->type == WSH_UID_LEAVE)
        return 0;
    for (int i = 0; i < gather->n; i++)
        len += gather->part[i].len;
    return len;
}

static void answer_fill(const struct wsh_uid_gather *gather, char *body)
{
    char *bytes = body + (size_t)gather->n * sizeof(uint64_t);

    for (int i = 0; i < gather->n; i++) {
        uint64_t len = gather->part[i].len;

        memcpy(body + (size_t)i * sizeof len, &len, sizeof len);
        memcpy(bytes, gather->part[i].bytes, len);
        bytes += len;
    }
}

static struct wsh_uid_buf *answer_make(const struct wsh_uid_gather *gather)
{
    size_t len = answer_len(gather);
    char *body;
    struct wsh_uid_buf *buf = wsh_uid_buf_make(gather->type, gather->arg, len, &body);

    if (buf && len)
        answer_fill(gather, body);
    return buf;
}

static int blobs_pack(const struct wsh_uid_gather *gather, const int *host, int n_hosts, void **bytes,
                      size_t *size)
{
    struct wsh_host_part *parts = calloc((size_t)gather->n, sizeof *parts);
    size_t plain = 0;
    int rc = parts ? 0 : -ENOMEM;

    for (int i = 0; i < gather->n && !rc; i++) {
        parts[i] = (struct wsh_host_part){(uint32_t)i, gather->part[i].bytes, gather->part[i].len};
        plain += parts[i].len;
    }
    if (!rc)
        rc = wsh_host_blobs_pack(parts, host, gather->n, n_hosts, bytes, size);
    free(parts);
    if (!rc)
        wsh_info(WSH_SUB_BOOTSTRAP, "addresses of %d PEs of %d hosts: %zu bytes, of %zu", gather->n, n_hosts,
                 *size, plain);
    return rc;
}

static struct wsh_uid_buf *blobs_answer(const struct wsh_uid_gather *gather, const int *host, int n_hosts)
{
    struct wsh_uid_buf *buf;
    void *bytes;
    size_t size;
    char *body;

    if (blobs_pack(gather, host, n_hosts, &bytes, &size))
        return NULL;
    buf = wsh_uid_buf_make(gather->type, gather->arg, size, &body);
    if (buf)
        memcpy(body, bytes, size);
    free(bytes);
    return buf;
}

struct wsh_uid_buf *wsh_uid_gather_finish(struct wsh_uid_gather *gather, const int *host, int n_hosts)
{
    struct wsh_uid_buf *buf =
        gather->type == WSH_UID_PUBLISH ? blobs_answer(gather, host, n_hosts) : answer_make(gather);

    parts_drop(gather);
    return buf;
}

int wsh_uid_missing(char *text, size_t size, int n, bool (*have)(const void *context, int rank),
                    const void *context)
{
    size_t used = 0;
    int missing = 0;

    *text = '\0';
    for (int first = 0, last; first < n; first = last + 1) {
        last = first;
        if (have(context, first))
            continue;
        while (last + 1 < n && !have(context, last + 1))
            last++;
        missing += last - first + 1;
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, last > first ? "%s%d to %d" : "%s%d",
                                     used ? ", " : "", first, last);
    }
    if (used >= size && size > 4)
        memcpy(text + size - 4, "...", 4);
    return missing;
}

bool wsh_uid_world_room(struct wsh_uid_world *world, int n_ranks)
{
    size_t n = (size_t)n_ranks;

    world->n_ranks = n_ranks;
    world->successor = -1;
    world->by_rank = calloc(n, sizeof *world->by_rank);
    world->host = calloc(n, sizeof *world->host);
    world->local = calloc(n, sizeof *world->local);
    world->left = calloc(n, sizeof *world->left);
    return world->by_rank && world->host && world->local && world->left &&
           !wsh_uid_gather_init(&world->all, n_ranks) && !wsh_uid_gather_init(&world->leaving, n_ranks);
}
