/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever a peer publishes at start: every part that is read lies inside, or it is refused with one line. */
#define _GNU_SOURCE
#include "runtime/route/blob.h"

#include "runtime/route/hosts.h"
#include "runtime/job/job.h"
#include "test/fuzz/common/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const struct wsh_tp_ops ops[] = {{.name = "local"}, {.name = "efa"}, {.name = "stage"}};
enum { TPS = sizeof ops / sizeof ops[0], PES = 2 };

static struct wsh_tp tps[TPS];
static struct wsh_job job;
static bool same_host[PES];
static int host[PES], domain[PES];
static void *own;
static size_t own_len;

static void job_make(void)
{
    job.n_pes = PES;
    job.same_host = same_host;
    job.host = host;
    job.domain = domain;
    job.env.node_emulated = -1;
    job.env.spin_us = -1;
    job.heap.seg[WSH_SEG_HEAP].len = 4096;
    job.n_tps = TPS;
    for (unsigned i = 0; i < TPS; i++) {
        struct wsh_route_keys *keys = &job.keys[i];

        tps[i].ops = &ops[i];
        job.tp[i] = &tps[i];
        memset(keys->address, 'a', keys->address_len = 10 + i);
        memset(keys->mem[WSH_SEG_HEAP].bytes, 'k', keys->mem[WSH_SEG_HEAP].len = 5 * i);
    }
    FUZZ_CHECK(!wsh_peer_blob_pack(&job, WSH_SEG_MORE + 1, &own, &own_len));
}

/* This PE's own, with some numbers changed, and cut. */
static void *blob_make(struct fuzz_input *in, size_t *len)
{
    char *blob = malloc(own_len);

    memcpy(blob, own, own_len);
    *len = fuzz_below(in, 8) ? own_len : fuzz_below(in, (unsigned)own_len);
    for (unsigned changes = fuzz_below(in, 6); changes; changes--) {
        size_t at = fuzz_below(in, (unsigned)own_len - 8) & ~3u;
        unsigned bytes = 1u << fuzz_below(in, 4);

        fuzz_bytes(in, blob + at, bytes);
    }
    return realloc(blob, *len ? *len : 1);
}

static void parts_read(const struct wsh_peer_blob *blob)
{
    for (unsigned i = 0; i < TPS; i++) {
        size_t len;
        const void *part = wsh_peer_blob_address(blob, ops[i].name, &len);

        FUZZ_CHECK(len <= WSH_TP_ADDRESS_MAX && (part || !len));
        fuzz_read(part, len);
        for (int seg = 0; seg < WSH_SEGS; seg++) {
            part = wsh_peer_blob_mem(blob, ops[i].name, seg, &len);
            FUZZ_CHECK(len <= WSH_TP_MEM_MAX && (part || !len));
            fuzz_read(part, len);
        }
    }
    for (int seg = 0; seg < WSH_SEGS; seg++)
        FUZZ_CHECK(!wsh_peer_blob_has(blob, seg) || wsh_peer_blob_len(blob, seg));
    fuzz_read(wsh_peer_blob_gpu(blob), strlen(wsh_peer_blob_gpu(blob)) + 1);
}

/* What the core makes of it: who shares a host, cores and memory with whom. */
static void peer_note(struct wsh_peer_blob *blob)
{
    struct wsh_peer_blob peers[PES] = {{own, own_len}, *blob};

    parts_read(blob);
    wsh_peer_blob_machine(blob);
    wsh_peer_blob_loopback(blob);
    wsh_peer_blob_by_sockets(blob);
    FUZZ_CHECK(!wsh_hosts_note(&job, peers));
    FUZZ_CHECK(job.local_size >= 1 && job.local_size <= PES && job.n_domains >= 1);
    FUZZ_CHECK(job.tuning.cores >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct wsh_peer_blob blob;
    size_t len;
    void *bytes;
    int rc;

    if (!own)
        job_make();
    bytes = fuzz_take(&in, 1) & 1 ? blob_make(&in, &len) : fuzz_copy(&in, in.left, &len);
    rc = wsh_peer_blob_open(&blob, &job, 1, bytes, len);
    FUZZ_CHECK(rc <= 0 && fuzz_lines() == (rc ? 1 : 0));
    if (!rc)
        peer_note(&blob);
    wsh_peer_blob_close(&blob);
    return 0;
}
