/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nvlink transport's table of functions, its opening and closing; memory is in mem.c, streams in stream.c, the
 * data operations in op.c.
 */
#include "transports/nvlink/nvlink.h"

#include "base/err.h"
#include "base/log.h"
#include "transports/nvlink/agent.h"
#include "transports/nvlink/stream.h"

#include <stdlib.h>

static void gpu_parts_close(struct nvlink *nv)
{
    nvlink_forget_given(nv);
    if (wsh_gpu_enter(nv->gpu))
        return;
    nvlink_stream_free_spare(nv);
    if (nv->module)
        wsh_cuda()->module_unload(nv->module);
    wsh_gpu_leave(nv->gpu);
}

static void nvlink_close(struct wsh_tp *tp)
{
    struct nvlink *nv = (struct nvlink *)tp;

    gpu_parts_close(nv);
    wsh_fds_close(&nv->fds);
    pthread_mutex_destroy(&nv->lock);
    free(nv->peers);
    free(nv);
}

static int agent_run(struct nvlink *nv, wsh_cu_ptr word, wsh_cu_stream stream)
{
    struct nvlink_atomic atomic = {.word = word, .op = WSH_AMO_SET, .width = 8};
    void *args[] = {&atomic};
    int status = wsh_cuda()->launch(nv->agent, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);

    return status ? status : wsh_cuda()->stream_sync(stream);
}

/* Runs the kernel once, so that nothing is loaded later, when a kernel of the program may be waiting. */
static int agent_try(struct nvlink *nv)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_stream stream;
    wsh_cu_ptr word;
    int status = cu->mem_alloc(&word, 8);

    if (status)
        return status;
    status = cu->stream_create(&stream, WSH_CU_STREAM_NON_BLOCKING, nv->priority);
    if (!status) {
        status = agent_run(nv, word, stream);
        cu->stream_destroy(stream);
    }
    cu->mem_free(word);
    return status;
}

/* Without the kernel everything but atomics works. */
static void agent_load(struct nvlink *nv)
{
    int status = nvlink_agent_size ? wsh_cuda()->module_load(&nv->module, nvlink_agent_image) : -1;

    if (!status)
        status = wsh_cuda()->module_function(&nv->agent, nv->module, NVLINK_AGENT);
    if (!status)
        status = agent_try(nv);
    if (!status)
        return;
    nv->agent = NULL;
    wsh_info(WSH_SUB_TRANSPORT, "nvlink: no atomics on device memory from the host: %s",
             nvlink_agent_size ? wsh_cuda_strerror(status) : "built without nvcc");
}

static int gpu_parts_open(struct nvlink *nv)
{
    int least;

    if (wsh_gpu_enter(nv->gpu))
        return -EIO;
    if (wsh_cuda()->ctx_priorities(&least, &nv->priority))
        nv->priority = 0;
    agent_load(nv);
    wsh_gpu_leave(nv->gpu);
    return 0;
}

static int nvlink_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    struct nvlink *nv = params->gpu ? calloc(1, sizeof *nv) : NULL;
    int rc;

    if (!nv)
        return params->gpu ? -ENOMEM : -ENODEV;
    nv->gpu = params->gpu;
    nv->my_pe = params->my_pe;
    nv->n_pes = params->n_pes;
    nv->adding.fd = -1; /* nothing */
    pthread_mutex_init(&nv->lock, NULL);
    nv->peers = calloc((size_t)nv->n_pes, sizeof *nv->peers);
    rc = wsh_fds_open(&nv->fds, "nvlink", nv->my_pe, nv->n_pes);
    if (!rc && !nv->peers)
        rc = -ENOMEM;
    if (!rc)
        rc = gpu_parts_open(nv);
    if (rc) {
        nvlink_close(&nv->tp);
        return rc;
    }
    *limits = (struct wsh_tp_limits){0};
    *tp = &nv->tp;
    return 0;
}

static int nvlink_address(struct wsh_tp *tp, void *blob, size_t *len)
{
    return wsh_fds_address(&((struct nvlink *)tp)->fds, blob, len);
}

static unsigned nvlink_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    struct nvlink *nv = (struct nvlink *)tp;
    bool here = pe == nv->my_pe || nv->peers[pe].here;

    return here && kind == WSH_MEM_DEVICE ? WSH_REACH_ALL : 0;
}

/* A context's stream keeps the order of everything; there is nothing to add. */
static int nvlink_fence(struct wsh_tctx *tctx)
{
    (void)tctx;
    return 0;
}

extern const struct wsh_tp_ops wsh_nvlink_ops;

const struct wsh_tp_ops wsh_nvlink_ops = {
    .name = "nvlink",
    .device = true,
    .open = nvlink_open,
    .close = nvlink_close,
    .address = nvlink_address,
    .connect = nvlink_connect,
    .reach = nvlink_reach,
    .mem_register = nvlink_mem_register,
    .mem_release = nvlink_mem_release,
    .mem_connect = nvlink_mem_connect,
    .mem_attach = nvlink_mem_attach,
    .mem_adopt = nvlink_mem_adopt,
    .mem_detach = nvlink_mem_detach,
    .ctx_open = nvlink_ctx_open,
    .ctx_close = nvlink_ctx_close,
    .put = nvlink_put,
    .get = nvlink_get,
    .amo = nvlink_amo,
    .put_signal = nvlink_put_signal,
    .fence = nvlink_fence,
    .pending = nvlink_pending,
    .progress = nvlink_progress,
    .describe = nvlink_describe,
};
