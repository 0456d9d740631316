/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel on a GPU posts into a ring in pinned memory, with credits from a completion counter in GPU memory, and is
 * served. Skipped without a CUDA driver or the compiled kernels.
 */
#include "emulator/queues/queues.h"
#include "emulator/unit/poster.h"

#include "test/common/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 60000
#define REGISTER_MAPPED 3u /* for all contexts, with an address for kernels */

/* As the kernels have it. */
struct queue {
    uint64_t words, doorbell, count, source;
    uint64_t start, request[8];
    uint32_t entries, batch, n, flaw;
};

static struct {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*set)(void *context);
    int (*alloc)(uint64_t *at, size_t len);
    int (*release)(uint64_t at);
    int (*fill)(uint64_t at, unsigned char value, size_t len);
    int (*copy_back)(void *to, uint64_t from, size_t len);
    int (*pin)(void *at, size_t len, unsigned flags);
    int (*unpin)(void *at);
    int (*address)(uint64_t *at, void *host, unsigned flags);
    int (*load)(void **module, const char *path);
    int (*function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
    int (*wait)(void);
} cuda;
static void *kernel;

static const struct {
    void *slot;
    const char *name;
} calls[] = {{&cuda.init, "cuInit"},
             {&cuda.retain, "cuDevicePrimaryCtxRetain"},
             {&cuda.set, "cuCtxSetCurrent"},
             {&cuda.alloc, "cuMemAlloc_v2"},
             {&cuda.release, "cuMemFree_v2"},
             {&cuda.fill, "cuMemsetD8_v2"},
             {&cuda.copy_back, "cuMemcpyDtoH_v2"},
             {&cuda.pin, "cuMemHostRegister_v2"},
             {&cuda.unpin, "cuMemHostUnregister"},
             {&cuda.address, "cuMemHostGetDevicePointer_v2"},
             {&cuda.load, "cuModuleLoad"},
             {&cuda.function, "cuModuleGetFunction"},
             {&cuda.launch, "cuLaunchKernel"},
             {&cuda.wait, "cuCtxSynchronize"}};

struct counter;
struct counter_attr {
    uint32_t comp_mask, type, flags;
};
struct location_attr {
    uint64_t comp_mask, flags;
    struct {
        uint64_t ptr, offset, fd, type;
    } location[2];
};
struct attach_attr {
    uint32_t comp_mask, operations;
};
struct counter *counter_create_at(struct ibv_context *context, struct counter_attr *attr,
                                  struct location_attr *efa, uint32_t len) __asm__("efadv_create_comp_cntr");
int counter_destroy(struct counter *counter) __asm__("ibv_destroy_comp_cntr");
int counter_attach(struct ibv_qp *qp, struct counter *counter,
                   struct attach_attr *attr) __asm__("ibv_qp_attach_comp_cntr");

static bool find(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context, *module;
    const char *folder = getenv("top_builddir");
    char path[4096];

    if (!driver)
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!(*(void **)calls[i].slot = dlsym(driver, calls[i].name)))
            return false;
    snprintf(path, sizeof path, "%s/emulator/unit/kernel_posts.cubin", folder ? folder : ".");
    return !cuda.init(0) && !cuda.retain(&context, 0) && !cuda.set(context) && !cuda.load(&module, path) &&
           !cuda.function(&kernel, module, "post");
}

/* Two ends, of which the first posts; what the kernel is given. */
struct scene {
    struct end end[2];
    struct poster poster;
    struct counter *counter;
    struct queue queue;
    uint64_t result;
};

static uint64_t pinned(void *host, size_t bytes)
{
    uint64_t at = 0;

    CU_ASSERT_EQUAL_FATAL(cuda.pin(host, bytes, REGISTER_MAPPED), 0);
    CU_ASSERT_EQUAL_FATAL(cuda.address(&at, host, 0), 0);
    return at;
}

static void count_writes(struct scene *scene)
{
    struct location_attr location = {.flags = 1};
    struct attach_attr on = {.operations = 1 << 4};
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    struct counter_attr attr = {0};

    CU_ASSERT_EQUAL_FATAL(cuda.alloc(&scene->queue.count, 64), 0);
    CU_ASSERT_EQUAL_FATAL(cuda.fill(scene->queue.count, 0, 64), 0);
    scene->result = scene->queue.count + 32;
    location.location[0].ptr = scene->queue.count;
    scene->counter = counter_create_at(scene->end[0].context, &attr, &location, sizeof location);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scene->counter);
    ibv_modify_qp(scene->end[0].qp, &reset, IBV_QP_STATE);
    CU_ASSERT_EQUAL(counter_attach(scene->end[0].qp, scene->counter, &on), 0);
    verbs_make_ready(scene->end[0].qp);
}

static void scene_open(struct scene *scene, uint32_t n, uint32_t batch)
{
    /* The counter gives the kernel its credits, not the host: so all completions must have room. */
    struct wish wish = {.type = IBV_QPT_DRIVER, .cq_entries = 32768, .sends = 256};
    struct emu_request request;

    memset(scene, 0, sizeof *scene);
    verbs_open(scene->end, &wish);
    count_writes(scene);
    poster_open(&scene->poster, &scene->end[0]);
    request = poster_write_of(&scene->poster, &scene->end[1], 0, 8);
    emu_wqe_write(&request, 0, scene->queue.request, 8);
    scene->queue.words = pinned(scene->poster.sq.words, (size_t)scene->poster.sq.entries * EMU_WQE_BYTES);
    scene->queue.doorbell = pinned(scene->poster.sq.doorbell, 4096);
    scene->queue.source = pinned(scene->end[0].buf, BUF_BYTES);
    scene->queue.start = EMU_COUNTER_START;
    scene->queue.entries = scene->poster.sq.entries;
    scene->queue.batch = batch;
    scene->queue.n = n;
}

static void scene_start(struct scene *scene, unsigned threads)
{
    void *arguments[] = {&scene->queue, &scene->result};

    CU_ASSERT_EQUAL_FATAL(cuda.launch(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL), 0);
}

static void scene_close(struct scene *scene)
{
    CU_ASSERT_EQUAL(cuda.wait(), 0);
    cuda.unpin(scene->poster.sq.words);
    cuda.unpin(scene->poster.sq.doorbell);
    cuda.unpin(scene->end[0].buf);
    verbs_close(scene->end);
    CU_ASSERT_EQUAL(counter_destroy(scene->counter), 0);
    cuda.release(scene->queue.count);
}

/* What the kernel posts arrives; the host only takes completions out of their queue. */
static void serve(unsigned threads, uint32_t batch, uint32_t n)
{
    struct emu_report report;
    unsigned result = 0;
    struct scene scene;
    uint64_t there; /* the host may be late, and a later request have the same place */

    scene_open(&scene, n, batch);
    scene_start(&scene, threads);
    for (uint32_t i = 0; i < n; i++) {
        CU_ASSERT_TRUE_FATAL(poster_poll(&scene.poster, WAIT_MS, &report));
        CU_ASSERT_EQUAL_FATAL(report.status, 0);
        memcpy(&there, scene.end[1].buf + report.id % 4096 * 8, 8);
        CU_ASSERT_TRUE_FATAL(there >= report.id && there % 4096 == report.id % 4096);
    }
    CU_ASSERT_EQUAL(cuda.wait(), 0);
    CU_ASSERT_EQUAL(cuda.copy_back(&result, scene.result, sizeof result), 0);
    CU_ASSERT_EQUAL(result, 1);
    CU_ASSERT_EQUAL(poster_served(&scene.poster), n);
    printf("%u requests of %u threads through a queue in pinned memory, %u a doorbell\n", n, threads, batch);
    scene_close(&scene);
}

static void a_thread_posts(void)
{
    serve(1, 1, 5000);
    serve(1, 16, 20000);
}

static void a_warp_posts(void)
{
    serve(32, 16, 20000);
}

static void a_mistake_of_a_kernel_is_found(void)
{
    uint64_t before = emu_violations(EMU_WRONG_PHASE);
    struct emu_report report = {.status = 0};
    struct scene scene;

    scene_open(&scene, 8, 8);
    scene.queue.flaw = 1;
    scene_start(&scene, 1);
    for (int i = 0; i < 8 && poster_poll(&scene.poster, WAIT_MS, &report) && !report.status; i++)
        continue;
    CU_ASSERT_EQUAL(report.status, EMU_QP_INTERNAL);
    CU_ASSERT_EQUAL(emu_violations(EMU_WRONG_PHASE), before + 1);
    scene_close(&scene);
}

__attribute__((constructor)) static void start(void)
{
    verbs_start("reorder 100us");
    setenv("EFA_EMULATOR_PROFILE", "p5en", 1);
    if (find())
        return;
    printf("skip: no CUDA driver, no GPU, or no emulator/unit/kernel_posts.cubin\n");
    exit(77);
}

const struct unit_test unit_tests[] = {
    {"a thread of a kernel posts", a_thread_posts},
    {"a warp posts a batch together", a_warp_posts},
    {"a mistake of a kernel is found", a_mistake_of_a_kernel_is_found},
    {NULL, NULL},
};
