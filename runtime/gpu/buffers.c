/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes device memory of the program's own symmetric: each buffer is a segment. */
#include "runtime/gpu/host.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/job.h"

#include <stdlib.h>

static int free_segment(const struct wsh_job *job)
{
    int seg = WSH_SEG_BUFFER;

    while (seg < WSH_SEGS && job->heap.seg[seg].base)
        seg++;
    return seg;
}

static int check_free(int seg)
{
    if (seg < WSH_SEGS)
        return 0;
    wsh_error("shmemx_buffer_register_symmetric: %d buffers are registered already; unregister some, or "
              "register fewer "
              "and larger ones",
              WSH_SEGS - WSH_SEG_BUFFER);
    return -ENOMEM;
}

/* 0 or a logged error; then peers see that there is nothing. */
static int buffer_offer(struct wsh_job *job, int seg, void *base, size_t len)
{
    const struct wsh_mem mem = {(enum wsh_seg)seg, WSH_MEM_DEVICE, base, len, -1, NULL, 0, 0};
    int rc;

    if (!base || !len) {
        wsh_error("shmemx_buffer_register_symmetric: the buffer is empty; give its address and its bytes");
        return -EINVAL;
    }
    rc = wsh_route_register(job, &mem);
    job->heap.seg[seg] = (struct wsh_segment){base, rc ? 0 : len, -1};
    return rc;
}

static int check_lengths(const struct wsh_job *job, int seg, const struct wsh_peer_blob *peers)
{
    size_t mine = job->heap.seg[seg].len;

    for (int pe = 0; pe < job->n_pes; pe++) {
        size_t len = wsh_peer_blob_len(&peers[pe], seg);

        if (len == mine)
            continue;
        if (len)
            wsh_error("shmemx_buffer_register_symmetric: PE %d registers %zu bytes, this PE %zu; give equal "
                      "sizes on "
                      "all PEs",
                      pe, len, mine);
        else
            wsh_error("shmemx_buffer_register_symmetric: PE %d could not register its buffer: its own line "
                      "says why",
                      pe);
        return -EINVAL;
    }
    return 0;
}

static void buffer_withdraw(struct wsh_job *job, int seg)
{
    wsh_route_withdraw(job, seg);
    job->heap.seg[seg] = (struct wsh_segment){.fd = -1};
    while (job->heap.n_device > 1 && !job->heap.seg[WSH_SEG_DEVICE + job->heap.n_device - 1].base)
        job->heap.n_device--;
}

static int buffer_share(struct wsh_job *job, int seg, int rc)
{
    struct wsh_peer_blob *peers = calloc((size_t)job->n_pes, sizeof *peers);
    int met = peers ? wsh_peer_blob_exchange(job, peers) : -ENOMEM;

    if (!rc && !met)
        met = check_lengths(job, seg, peers);
    if (!rc && !met)
        met = wsh_route_connect_segment(job, seg, peers);
    for (int pe = 0; peers && pe < job->n_pes; pe++)
        wsh_peer_blob_close(&peers[pe]);
    free(peers);
    return rc ? rc : met;
}

/* The barrier: see wsh_device_attach. */
int wsh_buffer_register(struct wsh_job *job, void *base, size_t len)
{
    static const char routine[] = "shmemx_buffer_register_symmetric";
    int seg = free_segment(job), rc = wsh_device_attach(job, routine);
    bool all_ok = false;

    if (!rc)
        rc = check_free(seg); /* the same on all PEs */
    if (rc)
        return rc;
    if (wsh_barrier(&job->world, routine))
        wsh_job_abort(1);
    rc = buffer_share(job, seg, buffer_offer(job, seg, base, len));
    if (wsh_agree(&job->world, !rc, &all_ok))
        wsh_job_abort(1);
    if (!all_ok) {
        buffer_withdraw(job, seg);
        return rc ? rc : -EIO;
    }
    if (job->heap.n_device <= seg - WSH_SEG_DEVICE)
        job->heap.n_device = seg - WSH_SEG_DEVICE + 1;
    wsh_view_buffers(job);
    return 0;
}

int wsh_buffer_unregister(struct wsh_job *job, void *base)
{
    int seg = WSH_SEG_BUFFER;

    if (wsh_barrier(&job->world, "shmemx_buffer_unregister_symmetric"))
        wsh_job_abort(1);
    while (seg < WSH_SEGS && (job->heap.seg[seg].base != base || !base))
        seg++;
    if (seg == WSH_SEGS) {
        wsh_error(
            "shmemx_buffer_unregister_symmetric: %p is not the start of a registered buffer; pass what was "
            "registered, once",
            base);
        return -EINVAL;
    }
    buffer_withdraw(job, seg);
    wsh_view_buffers(job);
    return wsh_barrier(&job->world, "shmemx_buffer_unregister_symmetric");
}
