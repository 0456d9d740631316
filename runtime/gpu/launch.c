/* SPDX-License-Identifier: BSD-3-Clause */
/* Agrees with the other PEs on a launch, and computes how many blocks are on a GPU at once. */
#include "runtime/gpu/launch.h"

#include "device/view/launch.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/job/job.h"

/* A kernel that was found, and the blocks of it that this PE's part of the GPU holds. */
struct fit {
    wsh_cu_function function;
    unsigned long long most;
    const char *so; /* in lines, what an error means: many programs do not look at the result of a launch */
};

static int log_failed(const struct wsh_device_launch *launch, const char *so, const char *what, int status)
{
    wsh_error("%s: %s%s: %s (CUDA error %d)", launch->routine, so, what, wsh_cuda_strerror(status), status);
    return -EINVAL;
}

static unsigned long long dim_product(const unsigned size[3])
{
    return (unsigned long long)size[0] * size[1] * size[2];
}

/* With the GPU's context current. 0 or a logged error. */
static int fit_measure(const struct wsh_job *job, const struct wsh_device_launch *launch, struct fit *fit)
{
    unsigned long long threads = dim_product(launch->block);
    int each = 0, processors = 0, status;

    status = launch->find(launch->kernel, (void **)&fit->function);
    if (status < 0)
        return -EINVAL;
    if (status)
        return log_failed(launch, fit->so,
                          "there is no such kernel for this GPU; compile for it with nvcc -arch", status);
    if (!threads || threads > 1024) {
        wsh_error("%s: %sa block of %llu threads; a kernel has 1 to 1024", launch->routine, fit->so, threads);
        return -EINVAL;
    }
    status = wsh_cuda()->occupancy(&each, fit->function, (int)threads, launch->shared);
    if (!status)
        status = wsh_cuda()->device_attribute(&processors, WSH_CU_ATTR_PROCESSORS, job->device.gpu.ordinal);
    if (status)
        return log_failed(launch, fit->so, "the driver does not say what fits", status);
    fit->most =
        (unsigned long long)each * (unsigned long long)processors / (unsigned long long)job->device.sharers;
    return 0;
}

/* As many blocks as are asked for, or all that fit. 0 or a logged error. */
static int grid_choose(const struct wsh_job *job, const struct wsh_device_launch *launch,
                       const struct fit *fit, unsigned grid[3])
{
    bool all = !launch->grid[0];

    for (int i = 0; i < 3; i++)
        grid[i] = !all ? launch->grid[i] : i ? 1 : (unsigned)fit->most;
    if (dim_product(grid) && dim_product(grid) <= fit->most)
        return 0;
    wsh_error(
        "%s: %s%llu blocks of %llu threads and %zu bytes of shared memory, and GPU %d has room for %llu at "
        "once (%d PEs share it); launch no more than shmemx_collective_launch_query_gridsize says, with "
        "smaller "
        "blocks if that is 0",
        launch->routine, fit->so, all ? 1 : dim_product(launch->grid), dim_product(launch->block),
        launch->shared, job->device.gpu.ordinal, fit->most, job->device.sharers);
    return -EINVAL;
}

static int launch_prepare(struct wsh_job *job, const struct wsh_device_launch *launch, struct fit *fit,
                          unsigned grid[3])
{
    int rc = wsh_gpu_enter(&job->device.gpu);

    if (rc)
        return rc;
    rc = fit_measure(job, launch, fit);
    if (!rc && grid)
        rc = grid_choose(job, launch, fit, grid);
    wsh_gpu_leave(&job->device.gpu);
    return rc;
}

static int kernel_start(struct wsh_job *job, const struct wsh_device_launch *launch, const struct fit *fit,
                        const unsigned grid[3])
{
    const unsigned *block = launch->block;
    int status, rc = wsh_gpu_enter(&job->device.gpu);

    if (rc)
        return rc;
    status = launch->start
                 ? launch->start(launch, grid)
                 : wsh_cuda()->launch_cooperative(fit->function, grid[0], grid[1], grid[2], block[0],
                                                  block[1], block[2], (unsigned)launch->shared,
                                                  launch->stream, launch->args);
    wsh_gpu_leave(&job->device.gpu);
    return status ? log_failed(launch, "", "the kernel does not start, and those of other PEs wait for it",
                               status)
                  : 0;
}

/* A kernel that does not start after all have agreed leaves the others' waiting: that ends the job. */
int wsh_launch(struct wsh_job *job, const struct wsh_device_launch *launch)
{
    struct fit fit = {.so = "nothing is launched on any PE: "};
    unsigned grid[3];
    bool all_ok = false;
    int rc = wsh_device_attach(job, launch->routine);

    if (rc)
        return rc;
    rc = launch_prepare(job, launch, &fit, grid);
    if (wsh_agree(&job->world, !rc, &all_ok))
        wsh_abort(1);
    if (!all_ok && !rc) {
        wsh_error("%s: nothing is launched on any PE: another PE cannot, as its own line says",
                  launch->routine);
        return -ECANCELED;
    }
    if (!rc && kernel_start(job, launch, &fit, grid))
        wsh_abort(1);
    return rc;
}

int wsh_launch_fits(struct wsh_job *job, const struct wsh_device_launch *launch, int *gridsize)
{
    struct fit fit = {.so = ""};
    int rc = wsh_device_attach(job, launch->routine);

    if (!rc && !gridsize) {
        wsh_error("%s: gridsize is NULL; pass the address of an int", launch->routine);
        rc = -EINVAL;
    }
    if (!rc)
        rc = launch_prepare(job, launch, &fit, NULL);
    if (!rc)
        *gridsize = (int)fit.most;
    return rc;
}
