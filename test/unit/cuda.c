/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver is found and its memory had, given away and mapped; what fails leaves nothing behind (test/fake_cuda). A
 * call that does not return is named.
 */
#define _GNU_SOURCE
#include "base/cuda/heap.h"

#include "base/cuda/call.h"
#include "test/common/fake_gpu.h"
#include "test/common/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { LEN = 3 << 20 };

static struct wsh_gpu gpu;

static bool begin(void)
{
    if (!fake_gpu_load() || wsh_cuda_open()) {
        unit_skip("test/fake_cuda/libcuda.so.1 was not built");
        return false;
    }
    CU_ASSERT_EQUAL_FATAL(wsh_gpu_open(&gpu, -1, 1), 0);
    return true;
}

static size_t unused(void)
{
    size_t bytes = 0, total;

    wsh_cuda()->mem_info(&bytes, &total);
    return bytes;
}

static int open_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void takes_the_gpu_that_is_current(void)
{
    struct wsh_gpu again;

    if (!begin())
        return;
    CU_ASSERT(gpu.ordinal == 1 && gpu.retained && gpu.vmm && wsh_cuda_count() == 2);
    CU_ASSERT(!wsh_gpu_open(&again, -1, 0) && again.ordinal == 1 && again.ctx == gpu.ctx);
    wsh_gpu_close(&again);
    CU_ASSERT(wsh_gpu_other(&gpu) == -1);
    wsh_cuda()->primary_retain(&again.ctx, 0);
    wsh_cuda()->ctx_set(again.ctx);
    CU_ASSERT(wsh_gpu_other(&gpu) == 0);
    CU_ASSERT(!wsh_gpu_enter(&gpu) && wsh_gpu_other(&gpu) == -1);
    wsh_gpu_leave(&gpu);
    CU_ASSERT(wsh_gpu_other(&gpu) == 0);
    wsh_cuda()->ctx_set(gpu.ctx);
}

static void takes_the_gpu_that_is_wanted(void)
{
    struct wsh_gpu other, same;
    wsh_cu_ctx now;

    if (!begin())
        return;
    CU_ASSERT(!wsh_gpu_open(&other, 0, 1) && other.ordinal == 0 && other.retained && other.ctx != gpu.ctx);
    CU_ASSERT(!wsh_cuda()->ctx_get(&now) && now == other.ctx);
    CU_ASSERT(!wsh_gpu_open(&same, 0, 1) && same.ordinal == 0 && same.ctx == other.ctx);
    wsh_gpu_close(&same);
    wsh_gpu_close(&other);
    wsh_cuda()->ctx_set(gpu.ctx);
}

static const struct wsh_gpu_want two = {LEN, 0, 0, 2, true};

static void maps_a_descriptor_into_its_slot(void)
{
    struct wsh_gpu_mem mem;
    struct wsh_gpu_map map;
    int status, before;

    if (!begin())
        return;
    before = open_descriptors();
    CU_ASSERT_EQUAL_FATAL(wsh_gpu_mem_open(&mem, &gpu, &(struct wsh_gpu_want){LEN, 0, 2, 4, true}, &status),
                          0);
    CU_ASSERT(mem.len == 4 << 20 && mem.base == mem.range + 2 * mem.stride && mem.n == 1);
    CU_ASSERT((uintptr_t)mem.base % WSH_GPU_ALIGN == 0 && wsh_gpu_holds(mem.base));
    CU_ASSERT_EQUAL_FATAL(wsh_gpu_map_fd(&map, &gpu, mem.piece[0].fd, mem.len, mem.range, &status), 0);
    CU_ASSERT(map.base == mem.range && wsh_gpu_holds(map.base + mem.len - 1));
    wsh_gpu_unmap(&map);
    CU_ASSERT(!wsh_gpu_map_fd(&map, &gpu, mem.piece[0].fd, mem.len, NULL, &status) && map.base == map.range);
    wsh_gpu_unmap(&map);
    wsh_gpu_mem_close(&mem);
    CU_ASSERT_EQUAL(open_descriptors(), before);
}

static const char *const failures[] = {"cuMemCreate=2",           "cuMemExportToShareableHandle=999",
                                       "cuMemAddressReserve=999", "cuMemMap=999",
                                       "cuMemSetAccess=999",      "cuMemGetAllocationGranularity=999"};

static void leaves_nothing_behind_where_a_step_fails(void)
{
    struct wsh_gpu_mem mem;
    struct wsh_gpu_map map;
    int status, before;
    size_t room;

    if (!begin())
        return;
    before = open_descriptors();
    room = unused();
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        setenv("FAKE_CUDA_FAIL", failures[i], 1);
        CU_ASSERT_EQUAL(wsh_gpu_mem_open(&mem, &gpu, &two, &status), i ? -EIO : -ENOMEM);
        CU_ASSERT(status == (i ? 999 : 2) && !mem.base && !mem.n);
        unsetenv("FAKE_CUDA_FAIL");
        CU_ASSERT(unused() == room && open_descriptors() == before);
    }
    CU_ASSERT_EQUAL_FATAL(wsh_gpu_mem_open(&mem, &gpu, &two, &status), 0);
    setenv("FAKE_CUDA_FAIL", "cuMemSetAccess=217", 1);
    CU_ASSERT(wsh_gpu_map_fd(&map, &gpu, mem.piece[0].fd, mem.len, mem.range + mem.stride, &status) == -EIO &&
              status == 217);
    unsetenv("FAKE_CUDA_FAIL");
    CU_ASSERT(!wsh_gpu_map_fd(&map, &gpu, mem.piece[0].fd, mem.len, mem.range + mem.stride, &status));
    wsh_gpu_unmap(&map);
    wsh_gpu_mem_close(&mem);
    CU_ASSERT(unused() == room && open_descriptors() == before);
}

static void grows_by_pieces(void)
{
    const struct wsh_gpu_want grows = {LEN, 16 << 20, 1, 2, true};
    struct wsh_gpu_export export;
    struct wsh_gpu_mem mem;
    int status, before;
    size_t room;

    if (!begin())
        return;
    before = open_descriptors();
    room = unused();
    CU_ASSERT_EQUAL_FATAL(wsh_gpu_mem_open(&mem, &gpu, &grows, &status), 0);
    CU_ASSERT(mem.stride == 16 << 20 && mem.base == mem.range + mem.stride);
    CU_ASSERT(!wsh_gpu_mem_grow(&mem, &gpu, 1, &status) && mem.len == 6 << 20 && mem.n == 2);
    CU_ASSERT(wsh_gpu_holds(mem.base + mem.len - 1) && !wsh_gpu_holds(mem.base + mem.len));
    CU_ASSERT(wsh_gpu_mem_grow(&mem, &gpu, 11 << 20, &status) == -ENOSPC && !status);
    setenv("FAKE_CUDA_FAIL", "cuMemCreate=2", 1);
    CU_ASSERT(wsh_gpu_mem_grow(&mem, &gpu, 2 << 20, &status) == -ENOMEM && status == 2 && mem.n == 2);
    unsetenv("FAKE_CUDA_FAIL");
    CU_ASSERT(!wsh_gpu_export(&export, mem.base + 64, mem.len - 64, &status) && export.n == 2);
    CU_ASSERT(export.off == 64 && export.len[0] == 4 << 20 && export.len[1] == 2 << 20);
    wsh_gpu_export_close(&export);
    wsh_gpu_mem_shrink(&mem);
    CU_ASSERT(mem.len == 4 << 20 && !wsh_gpu_holds(mem.base + mem.len));
    CU_ASSERT(!wsh_gpu_mem_grow(&mem, &gpu, 12 << 20, &status) && mem.len == mem.stride);
    wsh_gpu_mem_close(&mem);
    CU_ASSERT(unused() == room && open_descriptors() == before);
}

static void gives_keys_of_what_can_be_given(void)
{
    struct wsh_gpu_mem mem;
    struct wsh_gpu_key key;
    char automatic[8];
    int status;

    if (!begin())
        return;
    CU_ASSERT_EQUAL_FATAL(wsh_gpu_mem_open(&mem, &gpu, &(struct wsh_gpu_want){LEN, 0, 0, 2, false}, &status),
                          0);
    CU_ASSERT(!mem.range && !mem.n && (uintptr_t)mem.base % WSH_GPU_ALIGN == 0);
    CU_ASSERT(!wsh_gpu_key_make(&key, mem.base + 512, 1000, &status) && key.off == 512);
    CU_ASSERT(wsh_gpu_key_make(&key, mem.base + 512, mem.len, &status) == -ENOTSUP);
    CU_ASSERT(wsh_gpu_key_make(&key, automatic, 8, &status) == -ENOTSUP);
    setenv("FAKE_CUDA_FAIL", "cuIpcGetMemHandle=999", 1);
    CU_ASSERT(wsh_gpu_key_make(&key, mem.base, 64, &status) == -EIO && status == 999);
    unsetenv("FAKE_CUDA_FAIL");
    wsh_gpu_mem_close(&mem);
}

static void pins_host_memory_once(void)
{
    static char host[8192];
    int status;

    if (!begin())
        return;
    CU_ASSERT(!wsh_gpu_pin(&gpu, host, sizeof host, &status));
    CU_ASSERT(wsh_gpu_pin(&gpu, host, sizeof host, &status) == -EIO && status == 712);
    CU_ASSERT(!wsh_gpu_holds(host) && !wsh_gpu_may_hold(&gpu, host));
    setenv("FAKE_CUDA_FAIL", "cuCtxPushCurrent_v2=999", 1);
    CU_ASSERT(wsh_gpu_may_hold(&gpu, host));
    unsetenv("FAKE_CUDA_FAIL");
    wsh_gpu_unpin(host);
    CU_ASSERT(!wsh_gpu_pin(&gpu, host, sizeof host, &status));
    wsh_gpu_unpin(host);
}

/* No driver is needed: the call is under way as long as it is not said to have ended. */
static void names_a_call_that_does_not_return(void)
{
    struct wsh_cuda_stay stay;

    wsh_cuda_call_role(WSH_CUDA_PROGRESS);
    wsh_cuda_begin(WSH_CUDA_ID_stream_write64);
    wsh_cuda_calls_check(10);
    CU_ASSERT(!wsh_cuda_calls_due(1, &stay));
    wsh_cuda_calls_check(1.5);
    CU_ASSERT(wsh_cuda_calls_due(1, &stay) && stay.tid == gettid() && stay.role == WSH_CUDA_PROGRESS);
    CU_ASSERT(!strcmp(stay.name, "cuStreamWriteValue64") && stay.seconds == 1.5);
    CU_ASSERT(!wsh_cuda_calls_due(1, &stay));
    wsh_cuda_calls_check(3);
    CU_ASSERT(wsh_cuda_calls_due(1, &stay) && stay.seconds == 4.5);
    wsh_cuda_end(0);
    wsh_cuda_begin(WSH_CUDA_ID_stream_write64);
    wsh_cuda_calls_check(5);
    CU_ASSERT(!wsh_cuda_calls_due(1, &stay) && wsh_cuda_call_find(gettid(), &stay) && stay.seconds == 0);
    CU_ASSERT_EQUAL(wsh_cuda_end(-3), -3);
    CU_ASSERT(!wsh_cuda_call_find(0, &stay));
    wsh_cuda_call_role(WSH_CUDA_PROGRAM);
}

const struct unit_test unit_tests[] = {
    {"takes the GPU that is current", takes_the_gpu_that_is_current},
    {"takes the GPU that is wanted, and makes it current", takes_the_gpu_that_is_wanted},
    {"maps a descriptor into its slot", maps_a_descriptor_into_its_slot},
    {"leaves nothing behind where a step fails", leaves_nothing_behind_where_a_step_fails},
    {"grows by pieces", grows_by_pieces},
    {"gives keys of what can be given", gives_keys_of_what_can_be_given},
    {"pins host memory once", pins_host_memory_once},
    {"names a call that does not return", names_a_call_that_does_not_return},
    {NULL, NULL},
};
