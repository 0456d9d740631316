/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers a segment with the transports, and has all PEs exchange what they need for it. */
#include "runtime/gpu/segments.h"

#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/gpu/host.h"
#include "runtime/job/job.h"

#include <stdlib.h>

bool wsh_segment_is_zero_copy(const struct wsh_job *job, int seg)
{
    return seg < WSH_SEG_DEVICE || job->routes.local[seg] == WSH_LOCAL_REGISTERED;
}

int wsh_segments_all_live(struct wsh_job *job, const char *routine)
{
    if (!wsh_failures_take(job))
        return 0;
    if (job->all->my_pe == 0 || job->all == &job->world)
        wsh_warn(
            "%s: a PE has failed, and what all PEs exchange for it does not come together any more; attach "
            "GPUs and register buffers before, by a first shmemx_malloc_device",
            routine);
    return -EOWNERDEAD;
}

int wsh_segment_next(const struct wsh_job *job)
{
    int seg = WSH_SEG_MORE;

    while (seg < WSH_SEGS && job->heap.seg[seg].base)
        seg++;
    return seg;
}

/* 0 or a logged error; then peers see that there is nothing. */
static int segment_offer(struct wsh_job *job, const struct wsh_mem *mem, int rc)
{
    if (!rc)
        rc = wsh_route_register(job, mem);
    job->heap.seg[mem->seg] = (struct wsh_segment){mem->base, rc ? 0 : mem->len, -1};
    return rc;
}

static int check_lengths(const struct wsh_job *job, int seg, const struct wsh_peer_blob *peers,
                         const char *routine)
{
    size_t mine = job->heap.seg[seg].len;

    for (int pe = 0; pe < job->n_pes; pe++) {
        size_t len = wsh_peer_blob_len(&peers[pe], seg);

        if (len == mine)
            continue;
        if (len)
            wsh_error("%s: PE %d adds %zu bytes, this PE %zu; give equal sizes on all PEs", routine, pe, len,
                      mine);
        else
            wsh_error("%s: PE %d could not add its memory: its own line says why", routine, pe);
        return -EINVAL;
    }
    return 0;
}

static int segment_share(struct wsh_job *job, int seg, int rc, const char *routine)
{
    struct wsh_peer_blob *peers = calloc((size_t)job->n_pes, sizeof *peers);
    int met = peers ? wsh_peer_blob_exchange(job, seg, peers) : -ENOMEM;

    if (!rc && !met)
        met = check_lengths(job, seg, peers, routine);
    if (!rc && !met)
        met = wsh_route_connect_segment(job, seg, peers);
    for (int pe = 0; peers && pe < job->n_pes; pe++)
        wsh_peer_blob_close(&peers[pe]);
    free(peers);
    return rc ? rc : met;
}

void wsh_segment_withdraw(struct wsh_job *job, int seg)
{
    wsh_ranges_remove(job->heap.device, job->heap.seg[seg].base);
    wsh_route_withdraw(job, seg);
    job->heap.seg[seg] = (struct wsh_segment){.fd = -1};
}

/* The barrier: see wsh_device_attach. */
int wsh_segment_add(struct wsh_job *job, const struct wsh_mem *mem, int rc, const char *routine)
{
    bool all_ok = false;

    if (wsh_barrier(&job->world, routine))
        wsh_abort(1);
    rc = segment_share(job, mem->seg, segment_offer(job, mem, rc), routine);
    if (!rc)
        rc = wsh_ranges_add(job->heap.device, mem->base, mem->len, mem->seg);
    if (wsh_agree(&job->world, !rc, &all_ok))
        wsh_abort(1);
    if (all_ok)
        return 0;
    wsh_segment_withdraw(job, mem->seg);
    return rc ? rc : -EIO;
}
