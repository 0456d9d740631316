/* SPDX-License-Identifier: BSD-3-Clause */
/* The public extensions for GPUs: device memory, buffers and modules. */
#include "runtime/api/api.h"

#include "base/log.h"
#include "base/span.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/host.h"
#include "device/view/image.h"
#include "device/view/launch.h"
#include "runtime/gpu/image.h"
#include "runtime/gpu/launch.h"
#include "runtime/gpu/proxy/proxy.h"

#include <shmemx.h>

/* The core has logged why; a caller that went on would make its peers hang. */
static int status_of(int rc)
{
    return rc ? 1 : 0;
}

void *shmemx_malloc_device(size_t size)
{
    wsh_api_ready("shmemx_malloc_device");
    if (size)
        WSH_API_SAME("shmemx_malloc_device", wsh_job.all, "%zu bytes", size);
    return wsh_device_malloc(&wsh_job, size, 0, "shmemx_malloc_device");
}

void *shmemx_calloc_device(size_t count, size_t size)
{
    wsh_api_ready("shmemx_calloc_device");
    if (count && size)
        WSH_API_SAME("shmemx_calloc_device", wsh_job.all, "%zu times %zu bytes", count, size);
    return wsh_device_calloc(&wsh_job, count, size);
}

void *shmemx_align_device(size_t alignment, size_t size)
{
    wsh_api_ready("shmemx_align_device");
    if (!wsh_api_alignment("shmemx_align_device", alignment, sizeof(void *)))
        return NULL;
    if (size)
        WSH_API_SAME("shmemx_align_device", wsh_job.all, "%zu bytes, aligned to %zu", size, alignment);
    return wsh_device_malloc(&wsh_job, size, alignment, "shmemx_align_device");
}

void shmemx_free_device(void *ptr)
{
    if (wsh_job.env.free_later) {
        wsh_api_free_later("shmemx_free_device", ptr);
        return;
    }
    wsh_api_ready("shmemx_free_device");
    if (!ptr)
        return;
    WSH_API_SAME_BLOCK("shmemx_free_device", ptr, WSH_CHECK_ANY);
    wsh_api_check("shmemx_free_device", wsh_device_free(&wsh_job, ptr));
}

int shmemx_buffer_register(void *addr, size_t length)
{
    wsh_api_ready("shmemx_buffer_register");
    return status_of(wsh_buffer_note(&wsh_job, addr, length));
}

int shmemx_buffer_unregister(void *addr)
{
    wsh_api_ready("shmemx_buffer_unregister");
    if (addr)
        return status_of(wsh_buffer_forget(&wsh_job, addr));
    wsh_error("shmemx_buffer_unregister: addr is NULL; pass what was registered, or call "
              "shmemx_buffer_unregister_all");
    return 1;
}

void shmemx_buffer_unregister_all(void)
{
    wsh_api_ready("shmemx_buffer_unregister_all");
    wsh_buffer_forget(&wsh_job, NULL);
}

void *shmemx_buffer_register_symmetric(void *addr, size_t length, int flags)
{
    wsh_api_ready("shmemx_buffer_register_symmetric");
    if (flags)
        wsh_api_bad("shmemx_buffer_register_symmetric", "flags is not 0; no flag is defined");
    WSH_API_SAME("shmemx_buffer_register_symmetric", &wsh_job.world, "%zu bytes", length);
    return wsh_buffer_register(&wsh_job, addr, length) ? NULL : addr;
}

/* A former name. */
void *shmemx_buffer_register_symmetric_at(void *addr, size_t length, void *preferred, int flags)
{
    (void)preferred;
    return shmemx_buffer_register_symmetric(addr, length, flags);
}

int shmemx_buffer_unregister_symmetric(void *addr, size_t length)
{
    (void)length;
    wsh_api_ready("shmemx_buffer_unregister_symmetric");
    WSH_API_SAME_BLOCK("shmemx_buffer_unregister_symmetric", addr, WSH_CHECK_ANY);
    return status_of(wsh_buffer_unregister(&wsh_job, addr));
}

void *shmemx_device_heap_base(void)
{
    wsh_api_ready("shmemx_device_heap_base");
    return wsh_job.heap.seg[WSH_SEG_DEVICE].base;
}

void **shmemx_device_heap_peer_bases(void)
{
    wsh_api_ready("shmemx_device_heap_peer_bases");
    return wsh_job.device.attached ? (void **)(uintptr_t)wsh_device_state_peers(&wsh_job) : NULL;
}

/* A former name. */
void **shmemx_peer_heap_bases(void)
{
    return shmemx_device_heap_peer_bases();
}

int shmemx_queue_create(int n, int *queues)
{
    wsh_api_ready("shmemx_queue_create");
    if (n < 0 || n > 4096 || (n && !queues))
        wsh_api_bad("shmemx_queue_create", "n is not 0 to 4096, or queues is NULL");
    return status_of(wsh_proxy_add_queues(&wsh_job, (unsigned)n, queues));
}

int shmemx_module_init(void *module)
{
    wsh_api_ready("shmemx_module_init");
    return status_of(wsh_module_init(&wsh_job, module));
}

int shmemx_module_finalize(void *module)
{
    wsh_module_forget(module);
    return 0;
}

int wsh_device_launch(const struct wsh_device_launch *launch)
{
    wsh_api_ready(launch->routine);
    return status_of(wsh_launch(&wsh_job, launch));
}

int wsh_device_launch_fits(const struct wsh_device_launch *launch, int *gridsize)
{
    wsh_api_ready(launch->routine);
    return status_of(wsh_launch_fits(&wsh_job, launch, gridsize));
}

int wsh_device_spans_hosts(void *team)
{
    const struct wsh_team *members = wsh_api_team("a collective on a stream", team);

    wsh_api_ready("a collective on a stream");
    return members && wsh_device_state_spans_hosts(members);
}

int wsh_device_find(const void *kernel, void **function)
{
    return wsh_kernel_find(kernel, function);
}

int wsh_device_image_start(const struct wsh_device_image *image, const struct wsh_device_start *start)
{
    wsh_api_ready("a routine on a stream");
    return wsh_image_start(&wsh_job, image, start);
}

int wsh_device_stream_wait(const char *routine, void *stream)
{
    wsh_api_ready(routine);
    return wsh_stream_wait(&wsh_job, routine, stream);
}

/* Both ends of an array. */
static bool holds_all(const void *array, size_t len)
{
    return wsh_device_holds(array) && wsh_device_holds((const char *)array + len - 1);
}

int wsh_device_copy(void *dest, const void *source, size_t len, int pe, void *stream)
{
    char *to = len && holds_all(dest, len) && holds_all(source, len) ? shmem_ptr(dest, pe) : NULL;
    int status;

    if (!to || shmem_ptr((char *)dest + len - 1, pe) != to + len - 1 || wsh_gpu_enter(&wsh_job.device.gpu))
        return -1;
    status = wsh_cuda()->copy((wsh_cu_ptr)(uintptr_t)to, (wsh_cu_ptr)(uintptr_t)source, len, stream);
    wsh_gpu_leave(&wsh_job.device.gpu);
    return status;
}

void wsh_device_range(const char *routine)
{
    if (wsh_trace_range)
        wsh_trace_range(routine);
}

int wsh_device_holds(const void *ptr)
{
    return wsh_job.device.attached && wsh_ranges_find(wsh_job.heap.device, ptr, 1) >= 0;
}

int wsh_device_nvidia_code(void)
{
    return wsh_job.env.nvidia_code;
}

void wsh_device_say(const char *line)
{
    wsh_error("%s", line);
}

void wsh_device_end(const char *line)
{
    wsh_error("%s", line);
    wsh_abort(1);
}
