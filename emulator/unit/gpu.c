/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU memory is registered like any other, and payload gets into it and out of it. Skipped without a CUDA driver. */
#include "emulator/unit/verbs.h"

#include "test/common/unit.h"

#include <dlfcn.h>
#include <string.h>

#define LEN 100000
#define WAIT_MS 5000

static struct {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*set)(void *context);
    int (*alloc)(uint64_t *at, size_t len);
    int (*release)(uint64_t at);
} cuda;

static bool find(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;

    if (!driver)
        return false;
    *(void **)&cuda.init = dlsym(driver, "cuInit");
    *(void **)&cuda.retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&cuda.set = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&cuda.alloc = dlsym(driver, "cuMemAlloc_v2");
    *(void **)&cuda.release = dlsym(driver, "cuMemFree_v2");
    return cuda.init && cuda.retain && cuda.set && cuda.alloc && cuda.release && !cuda.init(0) &&
           !cuda.retain(&context, 0) && !cuda.set(context);
}

/* Registers `at` in place of the end's own buffer; returns what stood there. */
static struct end exchange(struct end *end, uint64_t at)
{
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    struct end before = *end;

    end->buf = (unsigned char *)(uintptr_t)at;
    end->mr = ibv_reg_mr(end->pd, end->buf, LEN, access);
    CU_ASSERT_PTR_NOT_NULL_FATAL(end->mr);
    CU_ASSERT_TRUE(emu.mine->mr[end->mr->lkey % EMU_MRS_MAX].gpu);
    return before;
}

static void put_back(struct end *end, const struct end *before)
{
    ibv_dereg_mr(end->mr);
    *end = *before;
}

static void finish(struct end *end)
{
    struct completion c = {.status = 99};

    CU_ASSERT_EQUAL(verbs_poll(end, WAIT_MS, &c), 0);
    CU_ASSERT_EQUAL(c.status, 0);
}

static void payload_passes_through_the_gpu(void)
{
    const struct wish wish = {.type = IBV_QPT_DRIVER, .flags = EMU_QP_UNSOLICITED};
    struct end end[2], host;
    uint64_t at = 0;

    if (!find()) {
        unit_skip("no CUDA driver, or no GPU");
        return;
    }
    CU_ASSERT_EQUAL_FATAL(cuda.alloc(&at, LEN), 0);
    verbs_open(end, &wish);
    for (int i = 0; i < LEN; i++)
        end[0].buf[i] = (unsigned char)(i * 7);
    host = exchange(&end[1], at);
    CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], 1, LEN, end[1].mr->rkey, true), 0);
    finish(&end[1]);
    finish(&end[0]);
    memset(end[0].buf, 0, LEN);
    CU_ASSERT_EQUAL(verbs_read(&end[0], &end[1], 2, LEN), 0);
    finish(&end[0]);
    CU_ASSERT_TRUE(end[0].buf[1] == 7 && end[0].buf[LEN - 1] == (unsigned char)((LEN - 1) * 7));
    CU_ASSERT_EQUAL(verbs_send(&end[1], &end[0], 3, 0), 0);
    memset(end[0].buf, 0, LEN);
    CU_ASSERT_EQUAL(verbs_receive(&end[0], 4, LEN), 0);
    finish(&end[0]);
    finish(&end[1]);
    CU_ASSERT_EQUAL(verbs_write(&end[1], &end[0], 5, LEN, end[0].mr->rkey, false), 0);
    finish(&end[1]);
    CU_ASSERT_TRUE(end[0].buf[1] == 7 && end[0].buf[LEN - 1] == (unsigned char)((LEN - 1) * 7));
    put_back(&end[1], &host);
    verbs_close(end);
    CU_ASSERT_EQUAL(cuda.release(at), 0);
}

__attribute__((constructor)) static void start(void)
{
    verbs_start("timeout 1s");
}

const struct unit_test unit_tests[] = {
    {"payload gets into GPU memory and out of it", payload_passes_through_the_gpu},
    {NULL, NULL},
};
