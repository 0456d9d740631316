/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * docs/design/limits.md names the widths of the headers, and the records carry the last number that fits and refuse,
 * or do without, the next one.
 */
#include "bootstrap/oshrun/args.h"
#include "bootstrap/uid/wire.h"
#include "device/proxy/ring.h"
#include "device/view/view.h"
#include "ep/ep.h"
#include "runtime/op/ctx.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/segments.h"
#include "runtime/gpu/stage/box.h"
#include "runtime/gpu/view/state.h"
#include "runtime/job/job.h"
#include "runtime/route/route.h"
#include "test/common/fake_gpu.h"
#include "test/common/unit.h"
#include "transports/efa/nic/choice.h"
#include "transports/efa/efa.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/wire/sizes.h"
#include "transports/efa/wire/wire.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name)           \
    {                       \
#name, (long)(name) \
    }

static const struct {
    const char *name;
    long value;
} rows[] = {
    ROW(WSH_SRD_IMM_SOURCES),
    ROW(WSH_SRD_CONTEXTS),
    ROW(WSH_SRD_IMM_COUNTERS),
    ROW(WSH_SRD_IMM_PIECE_COUNTERS),
    ROW(WSH_EFA_CONTEXTS),
    ROW(WSH_EFA_RAILS),
    ROW(WSH_EFA_SETS_MAX),
    ROW(WSH_SEGS_HOST),
    ROW(WSH_SEGS),
    ROW(WSH_TP_MAX),
    ROW(WSH_RING_PES),
    ROW(WSH_DEVICE_NO_SLOT),
    ROW(WSH_UID_PES_MAX),
    ROW(WSH_OSHRUN_MAX_PES),
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static FILE *page_open(void)
{
    const char *top = getenv("top_srcdir");
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", top ? top : ".", "docs/design/limits.md");
    return fopen(path, "r");
}

/* The number before `NAME`, in backticks, on some line; -1: there is none. */
static long page_value(FILE *page, const char *name)
{
    char line[2048], quoted[80];

    snprintf(quoted, sizeof quoted, " `%s`", name);
    rewind(page);
    while (fgets(line, sizeof line, page)) {
        char *at = strstr(line, quoted);

        if (!at || *line != '|')
            continue;
        while (at > line && at[-1] >= '0' && at[-1] <= '9')
            at--;
        return atol(at);
    }
    return -1;
}

static void page_agrees(void)
{
    FILE *page = page_open();

    CU_ASSERT_PTR_NOT_NULL_FATAL(page);
    for (size_t i = 0; i < N_ROWS; i++) {
        if (page_value(page, rows[i].name) != rows[i].value)
            fprintf(stderr, "docs/design/limits.md: %s is %ld\n", rows[i].name, rows[i].value);
        CU_ASSERT_EQUAL(page_value(page, rows[i].name), rows[i].value);
    }
    fclose(page);
}

static void immediate_data(void)
{
    const uint32_t pe = WSH_SRD_IMM_SOURCES - 1, ctx = WSH_SRD_CONTEXTS - 1;
    struct wsh_srd_imm imm = wsh_srd_imm_unpack(wsh_srd_imm_pack(pe, (uint16_t)ctx, 0xff));

    CU_ASSERT(!imm.by_counter && imm.pe == pe && imm.ctx == ctx && imm.group == 0xff);
    imm = wsh_srd_imm_unpack(wsh_srd_imm_counter(pe, WSH_SRD_IMM_COUNTERS - 1, 1));
    CU_ASSERT(imm.by_counter && imm.pe == pe && imm.counter == WSH_SRD_IMM_COUNTERS - 1 &&
              imm.generation == 1 && imm.pieces == 1);
    imm = wsh_srd_imm_unpack(wsh_srd_imm_piece(pe, WSH_SRD_IMM_PIECE_COUNTERS - 1, 1, WSH_SRD_IMM_PIECES));
    CU_ASSERT(imm.by_counter && imm.pe == pe && imm.counter == WSH_SRD_IMM_PIECE_COUNTERS - 1 &&
              imm.generation == 1 && imm.pieces == WSH_SRD_IMM_PIECES);
    CU_ASSERT(wsh_srd_imm_fits(ctx, WSH_SRD_IMM_SOURCES, false));
    CU_ASSERT(!wsh_srd_imm_fits(ctx + 1, WSH_SRD_IMM_SOURCES, false));
    CU_ASSERT(!wsh_srd_imm_fits(ctx, WSH_SRD_IMM_SOURCES + 1, false));
    CU_ASSERT(wsh_srd_imm_fits(ctx, WSH_SRD_IMM_SOURCES + 1, true));
    CU_ASSERT(wsh_efa_sizes_may_count(0, WSH_SRD_IMM_SOURCES));
    CU_ASSERT(!wsh_efa_sizes_may_count(0, WSH_SRD_IMM_SOURCES + 1));
}

static void count_once_more(void *arg)
{
    CU_ASSERT(!wsh_efa_sizes_may_count(*(const int *)arg, WSH_SRD_IMM_SOURCES + 1));
}

/* One PE too many for immediate data: PE 0 says so for all. */
static void one_pe_says_it(void)
{
    char text[1024];

    for (int pe = 0; pe < 2; pe++) {
        unit_capture(count_once_more, &pe, text, sizeof text);
        CU_ASSERT_EQUAL(unit_lines(text), pe == 0);
        CU_ASSERT(pe || strstr(text, "16385 PEs: the immediate data of writes name at most 16384"));
    }
}

static void message_heads(void)
{
    union wsh_efa_msg msg = {0};

    wsh_efa_wire_head(&msg.head, WSH_EFA_WIRE_ACK, sizeof msg.head, INT_MAX - 1, WSH_EFA_CONTEXTS - 1);
    CU_ASSERT_EQUAL(wsh_efa_wire_src(&msg, sizeof msg.head, INT_MAX), INT_MAX - 1);
    CU_ASSERT_PTR_NULL(wsh_efa_wire_check(&msg, sizeof msg.head));
    wsh_efa_wire_head(&msg.head, WSH_EFA_WIRE_ACK, sizeof msg.head, 100000, WSH_EFA_CONTEXTS);
    CU_ASSERT_PTR_NOT_NULL(wsh_efa_wire_check(&msg, sizeof msg.head));
    CU_ASSERT_EQUAL(wsh_efa_wire_src(&msg, sizeof msg.head, 100000), -1);
}

/* In place of the library's: what it refuses, and its other half, are not linked here. */
const struct ep_device_calls *const ep_device_calls = NULL;
static int n_refused;
static char refused[256];

int ep_refuse(const char *routine, const char *format, ...)
{
    va_list args;

    (void)routine;
    n_refused++;
    va_start(args, format);
    vsnprintf(refused, sizeof refused, format, args);
    va_end(args);
    return 1;
}

static int ep_refuses(int tokens, int pes)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    n_refused = 0;
    config.mode = SHMEMX_EP_HIGH_THROUGHPUT;
    config.hidden = EP_GROUP;
    config.experts = pes;
    config.topk = 1;
    config.tokens = tokens;
    return ep_check_config("shmemx_ep_create", &config, pes);
}

/* 18,631 x 1,801 are 2^25 - 1. */
static void expert_parallelism(void)
{
    CU_ASSERT(!ep_refuses(18631, 1801) && n_refused == 0);
    CU_ASSERT(ep_refuses(32768, 1024) && n_refused == 1);
    CU_ASSERT_STRING_EQUAL(refused, "tokens is 32768 with 1024 PEs; their product is at most 33554431");
}

/* A job whose GPU is attached, as far as registering more memory looks at it. */
static struct wsh_job job;
static struct wsh_device_state state;
static wsh_cu_ptr memory;
static int result;

static bool job_begin(void)
{
    memset(&job, 0, sizeof job);
    if (!fake_gpu_load() || wsh_cuda_open()) {
        unit_skip("test/fake_cuda/libcuda.so.1 was not built");
        return false;
    }
    CU_ASSERT_FATAL(!wsh_gpu_open(&job.device.gpu, -1, 1) && !wsh_cuda()->mem_alloc(&memory, 4096));
    job.device.attached = true;
    job.device.state = &state;
    job.device.local = wsh_ranges_open(WSH_SEGS_LOCAL - WSH_SEGS);
    job.heap.device = wsh_ranges_open(WSH_SEGS);
    CU_ASSERT_FATAL(job.device.local && job.heap.device);
    return true;
}

static void job_end(void)
{
    wsh_ranges_close(job.device.local);
    wsh_ranges_close(job.heap.device);
    wsh_cuda()->mem_free(memory);
    wsh_gpu_close(&job.device.gpu);
}

static void proxy_open(void *arg)
{
    (void)arg;
    result = wsh_proxy_open(&job);
}

/* Without the proxy kernels name no PE to the host: the cure that the line names. */
static void kernels_records(void)
{
    char text[1024];

    if (!job_begin())
        return;
    job.n_pes = WSH_RING_PES + 1;
    job.env.proxy = WSH_PROXY_ON;
    job.env.proxy_rings = job.env.proxy_threads = 1;
    unit_capture(proxy_open, NULL, text, sizeof text);
    CU_ASSERT(result == -EINVAL && unit_lines(text) == 1 && !job.device.proxy);
    CU_ASSERT_PTR_NOT_NULL(strstr(text,
                                  "1048577 PEs: what kernels ask of the host names at most 1048576; start "
                                  "fewer, or set SHMEM_PROXY=off"));
    job.env.proxy = WSH_PROXY_OFF;
    unit_capture(proxy_open, NULL, text, sizeof text);
    CU_ASSERT(result == 0 && unit_lines(text) == 0);
    job_end();
}

static void buffer_register(void *arg)
{
    (void)arg;
    result = wsh_buffer_register(&job, (void *)(uintptr_t)memory, 64);
}

static void buffer_note(void *arg)
{
    (void)arg;
    result = wsh_buffer_note(&job, (void *)(uintptr_t)memory, 64);
}

static void heap_grow(void *arg)
{
    (void)arg;
    result = wsh_device_grow(&job, 4096, "shmem_malloc_device");
}

/* All segments but the last are taken; then that too. */
static void segments(void)
{
    char text[1024];

    if (!job_begin())
        return;
    for (int seg = WSH_SEG_MORE; seg < WSH_SEGS - 1; seg++)
        job.heap.seg[seg].base = text;
    CU_ASSERT_EQUAL(wsh_segment_next(&job), WSH_SEGS - 1);
    job.heap.seg[WSH_SEGS - 1].base = text;
    unit_capture(buffer_register, NULL, text, sizeof text);
    CU_ASSERT(result == -ENOMEM && unit_lines(text) == 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "1088 buffers and pieces of the device heap are registered already; unregister"));
    unit_capture(heap_grow, NULL, text, sizeof text);
    CU_ASSERT(result == -ENOSPC && unit_lines(text) == 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "shmem_malloc_device: the device heap cannot grow: 1088 pieces"));
    memset(job.device.used, true, sizeof job.device.used);
    unit_capture(buffer_note, NULL, text, sizeof text);
    CU_ASSERT(result == -ENOMEM && unit_lines(text) == 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "64 buffers are registered already; register larger ones"));
    job_end();
}

/* Of one PE more than kernels can name without the host, the last goes through the host. */
static void slots_of_kernels(void)
{
    enum { PES = WSH_DEVICE_NO_SLOT + 1 };
    static bool same_host[PES];
    static uint8_t slots[PES];

    memset(&job, 0, sizeof job);
    memset(same_host, true, sizeof same_host);
    job.n_pes = PES;
    job.same_host = same_host;
    wsh_device_state_number(&job, slots);
    CU_ASSERT(slots[0] == 0 && slots[PES - 2] == WSH_DEVICE_NO_SLOT - 1 &&
              slots[PES - 1] == WSH_DEVICE_NO_SLOT);
    same_host[1] = false;
    wsh_device_state_number(&job, slots);
    CU_ASSERT(slots[1] == WSH_DEVICE_NO_SLOT && slots[2] == 1 && slots[PES - 1] == WSH_DEVICE_NO_SLOT - 1);
}

/* Bits for each of what is named. */
static void bits_suffice(void)
{
    CU_ASSERT(WSH_EFA_RAILS <= 8 * sizeof((struct wsh_efa_head *)0)->lost);
    CU_ASSERT(WSH_EFA_RAILS <= 8 * sizeof((struct wsh_efa_peer *)0)->paths);
    CU_ASSERT(WSH_TP_MAX <= 8 * sizeof((struct wsh_paths *)0)->used);
    CU_ASSERT(WSH_SEGS <= UINT16_MAX && sizeof((struct wsh_stage_head *)0)->seg == 2);
    CU_ASSERT(WSH_SEGS_HOST <= UINT8_MAX && WSH_EFA_CONTEXTS <= UINT16_MAX);
    CU_ASSERT(WSH_SRD_IMM_SOURCES <= WSH_RING_PES && WSH_RING_PES <= WSH_UID_PES_MAX);
}

const struct unit_test unit_tests[] = {
    {"the page has the headers' numbers", page_agrees},
    {"immediate data: the last that fits, and the next", immediate_data},
    {"immediate data: one PE says what one too many means", one_pe_says_it},
    {"heads of messages: the last that fits, and the next", message_heads},
    {"expert parallelism: the last product of tokens and PEs, and the next", expert_parallelism},
    {"records of kernels: one PE too many is refused", kernels_records},
    {"segments: the last that fits, and the next", segments},
    {"PEs that kernels reach: one too many goes through the host", slots_of_kernels},
    {"sets of bits have one for each", bits_suffice},
    {NULL, NULL},
};
