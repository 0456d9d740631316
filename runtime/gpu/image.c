/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the images of libraries when the GPU is attached, and starts their kernels. */
#include "runtime/gpu/image.h"

#include "device/view/image.h"
#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/job/job.h"
#include "runtime/wait/wait.h"

#include <shmem.h>
#include <stdio.h>

enum { KERNEL_ARGS = 8 }; /* at most */

/* A module of each part, with the GPU's context current, and every kernel of it: lazy loading ends there. */
static int load_parts(struct wsh_device_image *image)
{
    const struct wsh_cuda *cu = wsh_cuda();
    int status = 0;

    for (unsigned i = 0; i < image->n_parts && !status; i++) {
        struct wsh_device_part *part = &image->parts[i];
        wsh_cu_module module = NULL;
        wsh_cu_ptr state = 0;
        size_t len = 0;

        status = cu->module_load(&module, part->bytes);
        part->module = module;
        if (!status)
            status = cu->module_global(&state, &len, module, WSH_DEVICE_SYMBOL);
        part->state = state;
    }
    for (unsigned i = 0; i < image->n_kernels && !status; i++) {
        struct wsh_device_kernel *kernel = &image->kernels[i];
        wsh_cu_function function = NULL;

        status = cu->module_function(&function, image->parts[kernel->part].module, kernel->name);
        kernel->function = function;
    }
    return status;
}

/* Every kernel once, so that it finds what it needs later; with arguments that it does not look at. */
static int try_kernels(const struct wsh_device_image *image)
{
    const struct wsh_cuda *cu = wsh_cuda();
    uint64_t zero = 0;
    void *args[KERNEL_ARGS];
    int status = 0;

    for (int i = 0; i < KERNEL_ARGS; i++)
        args[i] = &zero;
    for (unsigned i = 0; i < image->n_kernels && !status; i++)
        status = cu->launch(image->kernels[i].function, 1, 2, 1, 1, 1, 1, 0, image->stream, args, NULL);
    return status ? status : cu->stream_sync(image->stream);
}

/* Of a load that failed. */
static void unload_parts(struct wsh_device_image *image)
{
    const struct wsh_cuda *cu = wsh_cuda();

    for (unsigned i = 0; i < image->n_kernels; i++)
        image->kernels[i].function = NULL;
    for (unsigned i = 0; i < image->n_parts; i++) {
        if (image->parts[i].module)
            cu->module_unload(image->parts[i].module);
        image->parts[i] = (struct wsh_device_part){image->parts[i].bytes, NULL, 0};
    }
    if (image->cell)
        cu->host_free(image->cell);
    if (image->stream)
        cu->stream_destroy(image->stream);
    image->cell = NULL;
    image->stream = NULL;
}

/* What was loaded in a context that is gone is gone with it. */
static void forget_parts(struct wsh_device_image *image)
{
    for (unsigned i = 0; i < image->n_kernels; i++)
        image->kernels[i].function = NULL;
    for (unsigned i = 0; i < image->n_parts; i++)
        image->parts[i] = (struct wsh_device_part){image->parts[i].bytes, NULL, 0};
    image->cell = NULL;
    image->stream = NULL;
}

/* A primary context stays for what is loaded in it: a graph that holds kernels may be replayed after the next init. */
static void keep_context(wsh_cu_ctx now)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_ctx primary = NULL;
    int ordinal;

    if (!cu->ctx_device(&ordinal) && !cu->primary_retain(&primary, ordinal) && primary != now)
        cu->primary_release(ordinal);
}

/* Once in a context, whether it succeeds or not. */
static void load_image(struct wsh_device_image *image, wsh_cu_ctx now)
{
    const struct wsh_cuda *cu = wsh_cuda();
    double began = wsh_wait_now();
    wsh_cu_stream stream = NULL;
    int status;

    forget_parts(image);
    image->context = now;
    status = cu->stream_create(&stream, WSH_CU_STREAM_NON_BLOCKING, 0);
    image->stream = stream;
    if (!status)
        status =
            cu->host_alloc((void **)(void *)&image->cell, sizeof *image->cell, WSH_CU_HOST_PORTABLE_MAPPED);
    if (!status)
        status = load_parts(image);
    if (!status)
        status = try_kernels(image);
    if (status) {
        wsh_info(WSH_SUB_INIT, "the kernels of %s do not load: %s (CUDA error %d)", image->name,
                 wsh_cuda_strerror(status), status);
        unload_parts(image);
        return;
    }
    keep_context(now);
    wsh_info(WSH_SUB_INIT, "%u kernels of %s loaded in %.1f ms", image->n_kernels, image->name,
             (wsh_wait_now() - began) * 1e3);
}

/* Zeroes, which take the device state away, come where nothing is loaded too. */
int wsh_device_image_fill(struct wsh_device_image *image, const struct wsh_device *state)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_ctx now = NULL;
    int status = 0;

    if (!image->n_parts || !cu)
        return 0;
    status = cu->ctx_get(&now);
    if (!status && now != image->context && state->n_pes)
        load_image(image, now);
    if (status || now != image->context || !image->stream)
        return status;
    for (unsigned i = 0; i < image->n_parts && !status; i++)
        status = cu->copy(image->parts[i].state, (wsh_cu_ptr)(uintptr_t)state, sizeof *state, image->stream);
    return status ? status : cu->stream_sync(image->stream);
}

static void log_not_loaded(const struct wsh_job *job, const struct wsh_device_image *image, const char *name)
{
    if (!image->n_parts)
        wsh_error(
            "%s on a stream: %s was built without nvcc, so that it has no kernels; build warpshmem where "
            "there is one, or compile the caller with nvcc",
            name, image->name);
    else if (!job->device.attached)
        wsh_error("%s on a stream: no GPU is attached; call nvshmem_malloc first, on all PEs", name);
    else
        wsh_error("%s on a stream: the kernels of %s did not load on GPU %d (%s); SHMEM_DEBUG=info says why",
                  name, image->name, job->device.gpu.ordinal, job->device.gpu.name);
}

/* A kernel may start while the one before it on the stream ends; it then waits for that on the GPU. */
static int start_early(const struct wsh_device_start *start, void *function)
{
    struct wsh_cu_launch_attribute early = {.id = WSH_CU_LAUNCH_SERIALIZATION, .value = 1};
    struct wsh_cu_launch launch = {.grid = {start->blocks, 1, 1},
                                   .block = {start->threads, 1, 1},
                                   .stream = start->stream,
                                   .attributes = &early,
                                   .n_attributes = 1};

    return wsh_cuda_call(launch_ex, &launch, function, start->args, NULL);
}

static int start_plain(const struct wsh_device_start *start, void *function)
{
    return wsh_cuda_call(launch, function, start->blocks, 1, 1, start->threads, 1, 1, 0, start->stream,
                         start->args, NULL);
}

int wsh_image_start(struct wsh_job *job, const struct wsh_device_image *image,
                    const struct wsh_device_start *start)
{
    const struct wsh_device_kernel *kernel = &image->kernels[start->kernel];
    bool own_stream = (uintptr_t)start->stream > 1; /* no legacy one, which waits for others too */
    int status;

    if (wsh_unlikely(!job->device.attached) && start->team == (void *)SHMEM_TEAM_WORLD &&
        wsh_device_attach(job, kernel->name))
        wsh_abort(1);
    if (wsh_unlikely(!kernel->function || !job->device.attached)) {
        log_not_loaded(job, image, kernel->name);
        wsh_abort(1);
    }
    if (wsh_gpu_enter(&job->device.gpu))
        return -EIO;
    status = own_stream && wsh_cuda()->launch_ex && job->device.gpu.overlaps
                 ? start_early(start, kernel->function)
                 : start_plain(start, kernel->function);
    wsh_gpu_leave(&job->device.gpu);
    return status;
}

struct stream_wait {
    void *stream;
    int status;
};

static int try_stream(void *arg)
{
    struct stream_wait *wait = arg;

    wait->status = wsh_cuda_call(stream_query, wait->stream);
    return wait->status == WSH_CU_NOT_READY ? -EAGAIN : 0;
}

static void describe_stream(void *arg, char *text, size_t size)
{
    (void)arg;
    snprintf(text, size, "the work on a CUDA stream");
}

int wsh_stream_wait(struct wsh_job *job, const char *routine, void *stream)
{
    struct wsh_wait_why why = {.routine = routine, .describe = describe_stream};
    struct stream_wait wait = {.stream = stream};
    int rc;

    if (!job->device.attached || wsh_gpu_enter(&job->device.gpu))
        return -EIO;
    rc = wsh_wait(job, &why, try_stream, &wait);
    wsh_gpu_leave(&job->device.gpu);
    return rc ? rc : wait.status;
}
