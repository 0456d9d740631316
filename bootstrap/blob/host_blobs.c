/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the packed blobs of hosts behind each other, and notes of those received where each PE's are. */
#include "bootstrap/blob/host_blobs.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

static int no_memory(size_t size)
{
    wsh_error("bootstrap: out of memory (%zu bytes)", size);
    return -ENOMEM;
}

/* A host's, behind the others. */
static int host_add(const struct wsh_host_part *parts, int n, char **all, size_t *size)
{
    uint64_t len;
    size_t packed_size;
    void *packed;
    char *more;
    int rc = wsh_host_blob_pack(parts, n, &packed, &packed_size);

    if (rc)
        return rc;
    len = packed_size;
    more = realloc(*all, *size + sizeof len + packed_size);
    if (more) {
        memcpy(more + *size, &len, sizeof len);
        memcpy(more + *size + sizeof len, packed, packed_size);
        *all = more;
        *size += sizeof len + packed_size;
    }
    free(packed);
    return more ? 0 : no_memory(*size + sizeof len + packed_size);
}

/* Orders PEs by host, and by number within it: by_host receives them, end[host] where a host's end. */
static void order_by_host(const struct wsh_host_part *parts, const int *host, int n_pes, int n_hosts,
                          struct wsh_host_part *by_host, int *end)
{
    for (int pe = 0; pe < n_pes; pe++)
        if (host[pe] + 1 < n_hosts)
            end[host[pe] + 1]++;
    for (int i = 1; i < n_hosts; i++)
        end[i] += end[i - 1];
    for (int pe = 0; pe < n_pes; pe++)
        by_host[end[host[pe]]++] = parts[pe];
}

int wsh_host_blobs_pack(const struct wsh_host_part *parts, const int *host, int n_pes, int n_hosts,
                        void **bytes, size_t *size)
{
    struct wsh_host_part *by_host = calloc((size_t)n_pes, sizeof *by_host);
    int *end = calloc((size_t)n_hosts, sizeof *end);
    int rc = by_host && end ? 0 : no_memory((size_t)n_pes * sizeof *by_host);
    char *all = NULL;

    *size = 0;
    if (!rc)
        order_by_host(parts, host, n_pes, n_hosts, by_host, end);
    for (int i = 0, begin = 0; i < n_hosts && !rc; begin = end[i++])
        rc = host_add(by_host + begin, end[i] - begin, &all, size);
    free(by_host);
    free(end);
    if (rc)
        free(all);
    *bytes = rc ? NULL : all;
    return rc;
}

/* What begins at `at`: a host's, without the number before it. False: it is not whole. */
static bool host_at(const struct wsh_host_blobs *blobs, size_t at, const unsigned char **bytes, size_t *size)
{
    uint64_t len = 0;

    if (blobs->size - at < sizeof len)
        return false;
    memcpy(&len, blobs->bytes + at, sizeof len);
    if (len > blobs->size - at - sizeof len)
        return false;
    *bytes = blobs->bytes + at + sizeof len;
    *size = (size_t)len;
    return true;
}

/* Returns how many PEs that host has; 0: not all of them are PEs that no other host has. */
static int host_note(struct wsh_host_blobs *blobs, size_t at, const unsigned char *bytes, size_t size)
{
    uint32_t pe;
    int n = 0;

    for (; wsh_host_blob_pe(bytes, size, (size_t)n, &pe); n++) {
        if (pe >= (uint32_t)blobs->n_pes || blobs->begin[pe] != NOWHERE)
            return 0;
        blobs->begin[pe] = (uint32_t)at;
    }
    return n;
}

/* Each PE is there once, and nothing else. */
static bool is_whole(struct wsh_host_blobs *blobs)
{
    const unsigned char *bytes;
    size_t at = 0, size;
    int n, found = 0;

    while (at < blobs->size && host_at(blobs, at, &bytes, &size) && (n = host_note(blobs, at, bytes, size))) {
        at += sizeof(uint64_t) + size;
        found += n;
    }
    return at == blobs->size && found == blobs->n_pes;
}

int wsh_host_blobs_open(struct wsh_host_blobs *blobs, void *bytes, size_t size, int n_pes)
{
    int rc = 0;

    *blobs = (struct wsh_host_blobs){bytes, size, malloc((size_t)n_pes * sizeof *blobs->begin), n_pes};
    if (!blobs->begin) {
        rc = no_memory((size_t)n_pes * sizeof *blobs->begin);
    } else {
        memset(blobs->begin, 0xff, (size_t)n_pes * sizeof *blobs->begin);
        rc = size < NOWHERE && is_whole(blobs) ? 0 : -EPROTO;
    }
    if (rc == -EPROTO)
        wsh_error(
            "what was published for all %d PEs (%zu bytes) is not the start-up data of each of them; run one "
            "warpshmem on all hosts",
            n_pes, size);
    if (rc)
        wsh_host_blobs_close(blobs);
    return rc;
}

void wsh_host_blobs_close(struct wsh_host_blobs *blobs)
{
    free(blobs->bytes);
    free(blobs->begin);
    *blobs = (struct wsh_host_blobs){0};
}

int wsh_host_blobs_find(const struct wsh_host_blobs *blobs, int pe, void **blob, size_t *len)
{
    const unsigned char *bytes = NULL;
    size_t size = 0;

    host_at(blobs, blobs->begin[pe], &bytes, &size); /* as when it was noted */
    return wsh_host_blob_find(bytes, size, (uint32_t)pe, blob, len);
}
