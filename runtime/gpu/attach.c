/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches the GPUs of a job's PEs together, all or none. */
#include "runtime/gpu/host.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "runtime/coll/coll.h"
#include "runtime/gpu/gda/gda.h"
#include "runtime/gpu/cuda_watch.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/gpu_ops.h"
#include "runtime/gpu/segments.h"
#include "runtime/job/job.h"
#include "runtime/wait/progress.h"
#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/stage/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int log_no_gpu(const char *routine, int rc)
{
    if (rc == -ENODEV)
        wsh_error("%s: there is no GPU that CUDA can use (libcuda.so.1 is missing, or CUDA_VISIBLE_DEVICES "
                  "hides all); "
                  "use shmem_malloc for host memory",
                  routine);
    else
        wsh_error(
            "%s: the CUDA driver does not start or is too old; see nvidia-smi, and SHMEM_DEBUG=info for the "
            "reason",
            routine);
    return rc;
}

/* Changes transports and the device state while no progress thread uses them. 0 or a logged error. */
static int with_no_progress(struct wsh_job *job, int (*change)(struct wsh_job *job))
{
    bool served = job->progress != NULL;
    int rc, started;

    wsh_progress_close(job);
    rc = change(job);
    started = served ? wsh_progress_start(job) : 0;
    return rc ? rc : started;
}

static int close_parts(struct wsh_job *job)
{
    wsh_device_state_close(job);
    wsh_ctx_shrink(job, job->device.first_tp);
    wsh_route_close_device(job);
    wsh_stage_host_close(job);
    return 0;
}

static int open_parts(struct wsh_job *job)
{
    int rc = wsh_stage_host_open(job);

    if (!rc)
        rc = wsh_route_open_device(job);
    if (!rc)
        rc = wsh_ctx_extend(job, job->device.first_tp);
    return rc;
}

/* Undoes open_here, however far it came, and the routes. */
static void close_here(struct wsh_job *job)
{
    with_no_progress(job, close_parts);
    wsh_device_heap_close(job);
}

static int open_gpu(struct wsh_job *job, const char *routine)
{
    int n = wsh_cuda_count();

    if (job->gpu_wanted <= n)
        return wsh_gpu_open(&job->device.gpu, job->gpu_wanted - 1, job->local_rank % n);
    wsh_error(
        "%s: shmemx_init_attr was given cuda_device %d, and there are %d GPUs; see CUDA_VISIBLE_DEVICES",
        routine, job->gpu_wanted - 1, n);
    return -EINVAL;
}

/* The part of the attach that needs no peer. 0 or a logged error; then nothing is left for which peers would wait. */
static int open_here(struct wsh_job *job, const char *routine)
{
    int rc = wsh_cuda_open();
    sigset_t before;

    job->device.first_tp = job->n_tps;
    if (rc)
        return log_no_gpu(routine, rc);
    wsh_signals_block(&before);
    rc = open_gpu(job, routine);
    wsh_signals_restore(&before);
    if (!rc)
        rc = wsh_device_heap_open(job);
    if (!rc)
        rc = with_no_progress(job, open_parts);
    if (rc)
        close_here(job);
    return rc;
}

/*
 * Reports a PE that has no device heap, which has logged why, or one of another size. The limit to which heaps grow
 * becomes the least of all PEs.
 */
static int compare_peers(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    size_t mine = job->heap.seg[WSH_SEG_DEVICE].len;

    for (int pe = 0; pe < job->n_pes; pe++) {
        size_t len = wsh_peer_blob_len(&peers[pe], WSH_SEG_DEVICE);

        if (!len)
            wsh_error("PE %d has no device heap, so that no PE gets one: its own line says why", pe);
        else if (len != mine)
            wsh_error("PE %d has a device heap of %zu bytes, this PE of %zu; set SHMEM_DEVICE_SYMMETRIC_SIZE "
                      "alike on all PEs (oshrun -x SHMEM_DEVICE_SYMMETRIC_SIZE)",
                      pe, len, mine);
        if (len != mine)
            return -EINVAL;
        if (wsh_peer_blob_device_limit(&peers[pe]) < job->device.heap.limit)
            job->device.heap.limit = wsh_peer_blob_device_limit(&peers[pe]);
    }
    return 0;
}

/* PEs that share a GPU without MPS take turns: the first of them warns. Emulated hosts are one machine. */
static int count_sharers(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    const char *mine = wsh_peer_blob_gpu(&peers[job->my_pe]);
    int first = -1, n = 0;
    char text[256];

    for (int pe = 0; pe < job->n_pes; pe++)
        if ((job->same_host[pe] || job->env.node_emulated >= 0) &&
            !strcmp(wsh_peer_blob_gpu(&peers[pe]), mine)) {
            first = first < 0 ? pe : first;
            n++;
        }
    job->device.sharers = n > job->env.gpu_pes ? n : (int)job->env.gpu_pes;
    if (n < 2 || first != job->my_pe || job->device.gpu.mps)
        return 0;
    snprintf(text, sizeof text,
             "%d PEs share the GPU at %s: without MPS their kernels take turns; start "
             "nvidia-cuda-mps-control -d, or "
             "give each PE a GPU of its own",
             n, mine);
    return wsh_log_slower(job->env.strict, WSH_LOG_WARN, text);
}

/* Exchanges the blobs, then connects the transports of device memory. */
static int peers_connect(struct wsh_job *job, bool ok, struct wsh_peer_blob *peers)
{
    int rc = wsh_peer_blob_exchange(job, 0, peers);

    if (!rc && ok)
        rc = compare_peers(job, peers);
    if (!rc && ok)
        rc = count_sharers(job, peers);
    if (!rc && ok)
        rc = wsh_route_connect_device(job, peers);
    return rc;
}

/*
 * Copies of device memory, of few bytes and of many: the driver prepares its first ones, which takes 0.1 ms. Here it
 * does so for the program's first put on a stream. An error comes again in a copy that has a caller.
 */
static void warm_copies(const struct wsh_job *job)
{
    static const size_t lengths[] = {64, 1 << 20};
    const struct wsh_cuda *cu = wsh_cuda();
    const wsh_cu_ptr from = (wsh_cu_ptr)(uintptr_t)job->device.heap.mem.base;
    wsh_cu_stream stream = NULL;
    wsh_cu_ptr to = 0;

    if (wsh_gpu_enter(&job->device.gpu))
        return;
    if (!cu->mem_alloc(&to, lengths[1]) && !cu->stream_create(&stream, WSH_CU_STREAM_NON_BLOCKING, 0)) {
        for (int i = 0; i < 2; i++)
            if (lengths[i] <= job->heap.seg[WSH_SEG_DEVICE].len)
                cu->copy(to, from, lengths[i], stream);
        cu->stream_sync(stream);
        cu->stream_destroy(stream);
    }
    if (to)
        cu->mem_free(to);
    wsh_gpu_leave(&job->device.gpu);
}

static int gpus_attach(struct wsh_job *job, const char *routine)
{
    struct wsh_peer_blob *peers = calloc((size_t)job->n_pes, sizeof *peers);
    int rc = peers ? open_here(job, routine) : -ENOMEM,
        met = peers ? peers_connect(job, !rc, peers) : -ENOMEM;
    bool all_ok = false;

    rc = rc ? rc : met;
    if (!rc)
        rc = wsh_cuda_watch_open(job);
    if (!rc)
        rc = wsh_device_state_open(job);
    if (!rc)
        rc = wsh_proxy_open(job);
    if (!rc)
        rc = wsh_gda_open(job);
    if (!rc)
        rc = wsh_stage_host_warm(job);
    if (!rc)
        rc = wsh_buffers_attach(job);
    if (!rc)
        warm_copies(job);
    if (wsh_agree(&job->world, !rc, &all_ok))
        wsh_abort(1);
    for (int pe = 0; peers && pe < job->n_pes; pe++)
        wsh_peer_blob_close(&peers[pe]);
    free(peers);
    if (all_ok)
        return 0;
    wsh_gda_close(job);
    wsh_proxy_close(job);
    wsh_cuda_watch_close(job);
    close_here(job);
    if (rc)
        return rc;
    wsh_error("%s: another PE could not attach its GPU, so that no PE does: its own line says why", routine);
    return -ENODEV;
}

/*
 * The barrier comes first: a PE that exchanges data by the bootstrap serves no peers, so no PE may depend on it then.
 */
int wsh_device_attach(struct wsh_job *job, const char *routine)
{
    int other = job->device.attached ? wsh_gpu_other(&job->device.gpu) : -1, rc;

    if (other >= 0) {
        wsh_error(
            "%s: GPU %d is current, but this PE's symmetric device memory is on GPU %d; a PE uses one GPU: "
            "cudaSetDevice before the first call",
            routine, other, job->device.gpu.ordinal);
        return -EINVAL;
    }
    if (job->device.attached)
        return wsh_device_state_refill(job);
    rc = wsh_segments_all_live(job, routine);
    if (rc)
        return rc;
    rc = wsh_barrier(&job->world, routine);
    if (rc) {
        (void)wsh_coll_met_failure(&job->world, routine, rc);
        return rc;
    }
    wsh_gpu_ops_set();
    rc = wsh_stage_host_reserve(job);
    if (rc)
        return rc;
    rc = gpus_attach(job, routine);
    if (rc) {
        wsh_stage_host_free(job);
        return rc;
    }
    job->device.attached = true;
    wsh_job_mark(job, WSH_SPECIAL_DEVICE, true);
    wsh_ranges_add(job->heap.device, job->device.heap.mem.base, job->device.heap.mem.len,
                   WSH_SEG_DEVICE); /* the first */
    wsh_device_pin(job);
    wsh_device_state_fill(job);
    return 0;
}

/*
 * GPU 0 is also current where the program has only called CUDA's runtime: then on all PEs of a host, which have GPUs
 * of their own.
 */
static bool gpu_is_chosen(const struct wsh_job *job)
{
    int current = wsh_cuda_current();

    if (job->gpu_wanted > 0)
        return true;
    if (current < 0 || wsh_cuda_open())
        return false;
    return current || !job->local_rank || wsh_cuda_count() < job->local_size;
}

int wsh_device_attach_chosen(struct wsh_job *job, const char *routine)
{
    bool all = false;

    if (wsh_agree(&job->world, gpu_is_chosen(job), &all))
        wsh_abort(1);
    return all ? wsh_device_attach(job, routine) : 0;
}
