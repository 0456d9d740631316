/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU memory: its detection, registration and copies. The driver is used only if the process has loaded it: without it
 * no pointer can be a GPU's. Copies wait for no kernel of the application: they run in a stream of their own, of the
 * highest priority, and by pinned memory, since a copy of other memory may need the queue that a kernel holds. Both are
 * made when memory is registered, while no kernel that waits for the network can run.
 */
#include "emulator/gpu.h"

#include "emulator/say.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* From the driver's interface: enumerators and the few calls needed. */
enum {
    CUDA_MEMORY_TYPE = 2,
    CUDA_DEVICE_ORDINAL = 9,
    CUDA_IS_DEVICE = 2,
    CUDA_NON_BLOCKING = 1,
    CUDA_PORTABLE = 1
};

/* The driver takes the highest there is. Streams of one priority share queues, and kernels that wait hold theirs. */
#define HIGHEST_PRIORITY (-1000)

#define GPUS_MAX 16

static struct {
    void *handle;
    int (*pointer_attribute)(void *value, int attribute, uint64_t pointer);
    int (*context_retain)(void **context, int device);
    int (*context_push)(void *context);
    int (*context_pop)(void **context);
    int (*stream_create)(void **stream, unsigned flags, int priority);
    int (*host_alloc)(void **memory, size_t len, unsigned flags);
    int (*stream_wait)(void *stream);
    int (*copy)(uint64_t to, uint64_t from, size_t len, void *stream);
} cuda;

enum { PINNED = 1 << 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, copying = PTHREAD_MUTEX_INITIALIZER;
static void *contexts[GPUS_MAX], *streams[GPUS_MAX];
static void *pinned; /* PINNED bytes, by which everything is copied */

/* dlopen alone would search the file system each time that the driver is not there. */
static int is_driver(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return strstr(info->dlpi_name, "libcuda.so") != NULL;
}

static bool driver_load(void)
{
    const struct {
        const char *name;
        void *at;
    } calls[] = {
        {"cuPointerGetAttribute", &cuda.pointer_attribute},
        {"cuDevicePrimaryCtxRetain", &cuda.context_retain},
        {"cuCtxPushCurrent_v2", &cuda.context_push},
        {"cuCtxPopCurrent_v2", &cuda.context_pop},
        {"cuStreamCreateWithPriority", &cuda.stream_create},
        {"cuMemHostAlloc", &cuda.host_alloc},
        {"cuStreamSynchronize", &cuda.stream_wait},
        {"cuMemcpyAsync", &cuda.copy},
    };
    void *handle = dl_iterate_phdr(is_driver, NULL) ? dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) : NULL;

    if (!handle)
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!(*(void **)calls[i].at = dlsym(handle, calls[i].name)))
            return false;
    cuda.handle = handle;
    return true;
}

static bool driver_is_ready(void)
{
    bool loaded;

    pthread_mutex_lock(&mutex);
    loaded = cuda.handle || driver_load();
    pthread_mutex_unlock(&mutex);
    return loaded;
}

/* In the context, with the mutex. */
static bool stream_prepare(unsigned ordinal)
{
    if (!streams[ordinal] && cuda.stream_create(&streams[ordinal], CUDA_NON_BLOCKING, HIGHEST_PRIORITY))
        streams[ordinal] = NULL;
    if (!pinned && cuda.host_alloc(&pinned, PINNED, CUDA_PORTABLE))
        pinned = NULL;
    return streams[ordinal] && pinned;
}

/* With the mutex: what copies of a GPU's memory need, made at first use; false if it cannot be had. */
static bool gpu_prepare(unsigned ordinal)
{
    void *unused;
    bool prepared;

    if (!contexts[ordinal] && cuda.context_retain(&contexts[ordinal], (int)ordinal)) {
        contexts[ordinal] = NULL;
        return false;
    }
    if (streams[ordinal] && pinned)
        return true;
    if (cuda.context_push(contexts[ordinal]))
        return false;
    prepared = stream_prepare(ordinal);
    cuda.context_pop(&unused);
    return prepared;
}

/* Enters the context of the GPU; returns its stream, or NULL. */
static void *gpu_enter(unsigned ordinal)
{
    bool prepared;

    pthread_mutex_lock(&mutex);
    prepared = gpu_prepare(ordinal);
    pthread_mutex_unlock(&mutex);
    return prepared && !cuda.context_push(contexts[ordinal]) ? streams[ordinal] : NULL;
}

unsigned emu_gpu_of(uint64_t addr)
{
    unsigned type = 0;
    int ordinal = -1;

    if (!driver_is_ready() || cuda.pointer_attribute(&type, CUDA_MEMORY_TYPE, addr) || type != CUDA_IS_DEVICE)
        return 0;
    if (!cuda.pointer_attribute(&ordinal, CUDA_DEVICE_ORDINAL, addr) && ordinal >= 0 && ordinal < GPUS_MAX) {
        pthread_mutex_lock(&mutex);
        gpu_prepare((unsigned)ordinal);
        pthread_mutex_unlock(&mutex);
        return (unsigned)ordinal + 1;
    }
    emu_say("GPU memory at %#llx, but the driver does not say of which GPU", (unsigned long long)addr);
    return 0;
}

/* PINNED bytes at most. 0 or the driver's error. */
static int copy_piece(uint64_t addr, void *data, size_t len, bool into_gpu, void *stream)
{
    uint64_t host = (uintptr_t)pinned;
    int rc;

    if (into_gpu)
        memcpy(pinned, data, len);
    rc = cuda.copy(into_gpu ? addr : host, into_gpu ? host : addr, len, stream);
    if (!rc)
        rc = cuda.stream_wait(stream);
    if (!rc && !into_gpu)
        memcpy(data, pinned, len);
    return rc;
}

int emu_gpu_copy(unsigned gpu, uint64_t addr, void *data, uint32_t len, bool into_gpu)
{
    void *stream = driver_is_ready() ? gpu_enter(gpu - 1) : NULL, *unused;
    int rc = 0;

    if (!stream) {
        emu_say("GPU %u cannot be used by this process", gpu - 1);
        return -EFAULT;
    }
    pthread_mutex_lock(&copying);
    for (uint32_t off = 0; off < len && !rc; off += PINNED)
        rc = copy_piece(addr + off, (char *)data + off, len - off < PINNED ? len - off : PINNED, into_gpu,
                        stream);
    pthread_mutex_unlock(&copying);
    cuda.context_pop(&unused);
    if (rc)
        emu_say("a copy of %u bytes of GPU memory failed: driver's error %d", len, rc);
    return rc ? -EFAULT : 0;
}
