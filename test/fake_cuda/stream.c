/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of the driver without a GPU: each has a thread that works through a queue, with random pauses. */
#define _GNU_SOURCE
#include "test/fake_cuda/fake.h"

#include "base/atomic.h"
#include "device/view/view.h"
#include "transports/nvlink/agent.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum work_kind { COPY, FILL, WRITE, ATOMIC };

struct work {
    enum work_kind kind;
    wsh_cu_ptr dst, src;
    size_t len;
    uint64_t value;
    struct nvlink_atomic atomic;
    struct work *next;
};

struct CUstream_st {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct work *head, **tail;
    bool stop;
    int failed; /* status of an operation that touched what is not mapped */
    unsigned seed;
};

/* A word is copied whole, as by a GPU: whoever polls it so acquires. Partner: write_word and the atomics. */
static int copy(const struct work *work)
{
    char *dst = fake_resolve(work->dst, work->len), *src = fake_resolve(work->src, work->len);

    if (!dst || !src)
        return FAKE_FAULT;
    if (work->len == 8 && !((uintptr_t)dst & 7) && !((uintptr_t)src & 7))
        __atomic_store_n((uint64_t *)(void *)dst, __atomic_load_n((uint64_t *)(void *)src, __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
    else
        memmove(dst, src, work->len);
    return 0;
}

/* Release: what the stream has done before is visible with the word. Partner: the acquire of its reader. */
static int write_word(const struct work *work)
{
    char *dst = fake_resolve(work->dst, work->len);

    if (!dst || work->dst % work->len)
        return FAKE_FAULT;
    if (work->len == 8)
        __atomic_store_n((uint64_t *)(void *)dst, work->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)(void *)dst, (uint32_t)work->value, __ATOMIC_RELEASE);
    return 0;
}

static int perform_atomic(const struct nvlink_atomic *atomic)
{
    char *word = fake_resolve(atomic->word, atomic->width);
    uint64_t old;

    if (!word || atomic->word % atomic->width)
        return FAKE_FAULT;
    old = wsh_amo_apply(word, (enum wsh_amo_op)atomic->op, atomic->width, atomic->operand, atomic->compare);
    if (atomic->old)
        *(uint64_t *)(void *)fake_resolve(atomic->old, 8) = old;
    return 0;
}

static int perform(const struct work *work)
{
    char *dst;

    switch (work->kind) {
    case COPY: return copy(work);
    case WRITE: return write_word(work);
    case ATOMIC: return perform_atomic(&work->atomic);
    default:
        dst = fake_resolve(work->dst, work->len);
        if (dst)
            memset(dst, (int)work->value, work->len);
        return dst ? 0 : FAKE_FAULT;
    }
}

static struct work *wait_for_work(struct CUstream_st *stream)
{
    struct work *work;

    pthread_mutex_lock(&stream->lock);
    while (!stream->head && !stream->stop)
        pthread_cond_wait(&stream->change, &stream->lock);
    work = stream->head;
    pthread_mutex_unlock(&stream->lock);
    return work;
}

/* The work stays in the queue until it is done, for stream_query. After a fault nothing is done any more. */
static void *run(void *arg)
{
    struct CUstream_st *stream = arg;
    struct work *work;

    while ((work = wait_for_work(stream))) {
        long delay = fake_setting("FAKE_CUDA_DELAY", 50);
        int status;

        if (delay > 0 && rand_r(&stream->seed) % 4 == 0)
            usleep((useconds_t)(rand_r(&stream->seed) % delay));
        status = stream->failed ? stream->failed : perform(work);
        pthread_mutex_lock(&stream->lock);
        stream->failed = status;
        stream->head = work->next;
        if (!stream->head)
            stream->tail = &stream->head;
        pthread_cond_broadcast(&stream->change);
        pthread_mutex_unlock(&stream->lock);
        free(work);
    }
    return NULL;
}

static wsh_cu_stream open_stream(void)
{
    struct CUstream_st *stream = calloc(1, sizeof *stream);

    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->change, NULL);
    stream->tail = &stream->head;
    stream->seed = (unsigned)getpid();
    pthread_create(&stream->thread, NULL, run, stream);
    return stream;
}

/* The library shares no stream with the program: the one without a name is none of its. */
static int queue(wsh_cu_stream stream, const struct work *work)
{
    struct work *copy = stream ? malloc(sizeof *copy) : NULL;
    int status;

    if (!copy)
        return FAKE_INVALID;
    *copy = *work;
    copy->next = NULL;
    pthread_mutex_lock(&stream->lock);
    *stream->tail = copy;
    stream->tail = &copy->next;
    status = stream->failed;
    pthread_cond_broadcast(&stream->change);
    pthread_mutex_unlock(&stream->lock);
    return status;
}

int cuStreamCreateWithPriority(wsh_cu_stream *stream, unsigned flags, int priority)
{
    FAKE_ENTER(true);
    if (flags != WSH_CU_STREAM_NON_BLOCKING || priority > 0)
        return FAKE_INVALID;
    *stream = open_stream();
    return 0;
}

int cuStreamQuery(wsh_cu_stream stream)
{
    int status;

    FAKE_ENTER(true);
    pthread_mutex_lock(&stream->lock);
    status = stream->failed ? stream->failed : stream->head ? WSH_CU_NOT_READY : 0;
    pthread_mutex_unlock(&stream->lock);
    return status;
}

int cuStreamSynchronize(wsh_cu_stream stream)
{
    int status;

    FAKE_ENTER(true);
    pthread_mutex_lock(&stream->lock);
    while (stream->head)
        pthread_cond_wait(&stream->change, &stream->lock);
    status = stream->failed;
    pthread_mutex_unlock(&stream->lock);
    return status;
}

int cuStreamDestroy_v2(wsh_cu_stream stream)
{
    FAKE_ENTER(true);
    cuStreamSynchronize(stream);
    pthread_mutex_lock(&stream->lock);
    stream->stop = true;
    pthread_cond_broadcast(&stream->change);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    free(stream);
    return 0;
}

int cuStreamWriteValue32_v2(wsh_cu_stream stream, wsh_cu_ptr dst, uint32_t value, unsigned flags)
{
    FAKE_ENTER(true);
    return flags || dst % 4
               ? FAKE_INVALID
               : queue(stream, &(struct work){.kind = WRITE, .dst = dst, .len = 4, .value = value});
}

int cuStreamWriteValue64_v2(wsh_cu_stream stream, wsh_cu_ptr dst, uint64_t value, unsigned flags)
{
    FAKE_ENTER(true);
    return flags || dst % 8
               ? FAKE_INVALID
               : queue(stream, &(struct work){.kind = WRITE, .dst = dst, .len = 8, .value = value});
}

int cuMemcpyAsync(wsh_cu_ptr dst, wsh_cu_ptr src, size_t len, wsh_cu_stream stream)
{
    FAKE_ENTER(true);
    return queue(stream, &(struct work){.kind = COPY, .dst = dst, .src = src, .len = len});
}

int cuMemsetD8Async(wsh_cu_ptr dst, unsigned char byte, size_t len, wsh_cu_stream stream)
{
    FAKE_ENTER(true);
    return queue(stream, &(struct work){.kind = FILL, .dst = dst, .len = len, .value = byte});
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, wsh_cu_function function, int threads,
                                                size_t shared)
{
    FAKE_ENTER(true);
    if (!function || threads < 1)
        return FAKE_INVALID;
    *blocks = FAKE_THREADS / threads;
    if (shared && FAKE_SHARED / shared < (size_t)*blocks)
        *blocks = (int)(FAKE_SHARED / shared);
    return 0;
}

/* Runs no kernel: its only argument is where the grid's three numbers are stored. */
int cuLaunchCooperativeKernel(wsh_cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, wsh_cu_stream stream, void **args)
{
    unsigned *grid;

    (void)shared;
    (void)stream;
    FAKE_ENTER(true);
    if (!function || gx * gy * gz == 0 || bx * by * bz == 0)
        return FAKE_INVALID;
    grid = *(unsigned **)args[0];
    grid[0] = gx;
    grid[1] = gy;
    grid[2] = gz;
    return 0;
}

/* The one kernel there is. */
/* Where a PE has the object at symmetric address `sym`: the PEs' heaps lie at equal distances (device/view/view.h). */
static wsh_cu_ptr peer_address(const struct wsh_device *view, uint64_t sym, int pe)
{
    const struct wsh_device_seg *seg = &view->seg[WSH_DEVICE_SEG_DEVICE];

    return seg->where + (uint64_t)(pe - view->run_first) * seg->stride + (sym - seg->base);
}

#define ARG(type, i) (*(const type *)args[i])

/* The kernels put, get, p and g by their names behind FAKE_IMAGE, with a digit for the size. */
static int image_work(const char *name, const struct wsh_device *view, void **args, struct work *work)
{
    size_t size = strlen(name) == 3 ? (size_t)(name[2] - '0') : 0;

    if (!view || !view->run_count || !view->seg[WSH_DEVICE_SEG_DEVICE].stride)
        return FAKE_NOT_SUPPORTED;
    if (!strcmp(name, "put"))
        *work = (struct work){.dst = peer_address(view, ARG(uint64_t, 0), ARG(int, 3)),
                              .src = ARG(uint64_t, 1),
                              .len = ARG(size_t, 2)};
    else if (!strcmp(name, "get"))
        *work = (struct work){.dst = ARG(uint64_t, 0),
                              .src = peer_address(view, ARG(uint64_t, 1), ARG(int, 3)),
                              .len = ARG(size_t, 2)};
    else if (!strcmp(name, "p_4") || !strcmp(name, "p_8"))
        *work = (struct work){.kind = WRITE,
                              .dst = peer_address(view, ARG(uint64_t, 0), ARG(int, 2)),
                              .len = size,
                              .value = size == 4 ? ARG(uint32_t, 1) : ARG(uint64_t, 1)};
    else if (!strcmp(name, "g_4") || !strcmp(name, "g_8"))
        *work = (struct work){
            .dst = ARG(uint64_t, 0), .src = peer_address(view, ARG(uint64_t, 1), ARG(int, 2)), .len = size};
    else
        return FAKE_NOT_SUPPORTED;
    return 0;
}

int cuLaunchKernel(wsh_cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, wsh_cu_stream stream, void **args, void **extra)
{
    const size_t prefix = strlen(FAKE_IMAGE);
    struct work work = {.kind = ATOMIC};
    int status = 0;

    FAKE_ENTER(true);
    if (!function || !stream || shared || extra)
        return FAKE_INVALID;
    if (!strncmp(function->name, FAKE_IMAGE, prefix) && gy == 2) /* does nothing (device/view/image.h) */
        return 0;
    if (!strncmp(function->name, FAKE_IMAGE, prefix))
        status =
            image_work(function->name + prefix,
                       (void *)fake_resolve(function->module->symbol[UNITS_MAX], sizeof(struct wsh_device)),
                       args, &work);
    else if (gx * gy * gz * bx * by * bz != 1)
        status = FAKE_INVALID;
    else
        memcpy(&work.atomic, args[0], sizeof work.atomic);
    return status ? status : queue(stream, &work);
}
