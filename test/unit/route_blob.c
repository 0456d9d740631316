/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer's start-up blob is read back as it was written; one that is cut, changed or foreign is refused in one line. */
#define _GNU_SOURCE
#include "runtime/route/blob.h"

#include "runtime/job/job.h"
#include "test/common/unit.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static struct wsh_job job;
static struct wsh_tp tps[2];
static const struct wsh_tp_ops first = {.name = "local"}, second = {.name = "efa"};

static void make_job(void)
{
    memset(&job, 0, sizeof job);
    job.n_pes = 2;
    job.heap.seg[WSH_SEG_HEAP].len = 4096;
    job.n_tps = 2;
    tps[0].ops = &first;
    tps[1].ops = &second;
    job.tp[0] = &tps[0];
    job.tp[1] = &tps[1];
    memcpy(job.keys[0].address, "socket", job.keys[0].address_len = 6);
    memcpy(job.keys[1].address, "nic", job.keys[1].address_len = 3);
    memcpy(job.keys[1].mem[WSH_SEG_HEAP].bytes, "rkey", job.keys[1].mem[WSH_SEG_HEAP].len = 4);
}

static void reads_back_what_was_written(void)
{
    struct wsh_peer_blob blob;
    const void *part;
    void *bytes;
    size_t len;

    make_job();
    CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
    CU_ASSERT_EQUAL(wsh_peer_blob_open(&blob, &job, 1, bytes, len), 0);
    part = wsh_peer_blob_address(&blob, "local", &len);
    CU_ASSERT(part && len == 6 && !memcmp(part, "socket", 6));
    part = wsh_peer_blob_address(&blob, "efa", &len);
    CU_ASSERT(part && len == 3 && !memcmp(part, "nic", 3));
    part = wsh_peer_blob_mem(&blob, "efa", WSH_SEG_HEAP, &len);
    CU_ASSERT(part && len == 4 && !memcmp(part, "rkey", 4));
    wsh_peer_blob_mem(&blob, "efa", WSH_SEG_STATIC, &len);
    CU_ASSERT_EQUAL(len, 0);
    CU_ASSERT(wsh_peer_blob_address(&blob, "nvlink", &len) == NULL && len == 0);
    CU_ASSERT(wsh_peer_blob_has(&blob, WSH_SEG_HEAP) && !wsh_peer_blob_has(&blob, WSH_SEG_STATIC));
    wsh_peer_blob_close(&blob);
}

static void says_which_processors_it_may_use(void)
{
    struct wsh_peer_blob blob;
    cpu_set_t all, one;
    void *bytes;
    size_t len;
    int last = 0, first_cpu;

    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof all, &all), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        last = CPU_ISSET(cpu, &all) ? cpu : last;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    make_job();
    sched_setaffinity(0, sizeof one, &one);
    CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
    sched_setaffinity(0, sizeof all, &all);
    CU_ASSERT_EQUAL(wsh_peer_blob_open(&blob, &job, 1, bytes, len), 0);
    CU_ASSERT(wsh_peer_blob_cpus(&blob, &first_cpu) == 1 && first_cpu == last);
    wsh_peer_blob_close(&blob);
}

struct attempt {
    void *bytes;
    size_t len;
    int rc;
};

static void open_blob(void *arg)
{
    struct attempt *attempt = arg;
    struct wsh_peer_blob blob;

    attempt->rc = wsh_peer_blob_open(&blob, &job, 1, attempt->bytes, attempt->len);
    wsh_peer_blob_close(&blob);
}

/* Opens a copy of exactly `len` bytes, so that a read past its end is seen by AddressSanitizer. */
static int open_copy(const void *bytes, size_t len, char *text, size_t size)
{
    struct attempt attempt = {malloc(len ? len : 1), len, 0};

    memcpy(attempt.bytes, bytes, len);
    unit_capture(open_blob, &attempt, text, size);
    return attempt.rc;
}

static void refuses_cut_blobs(void)
{
    char text[4096];
    void *bytes;
    size_t len;

    make_job();
    CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
    for (size_t cut = 0; cut < len; cut++) {
        CU_ASSERT(open_copy(bytes, cut, text, sizeof text) < 0);
        CU_ASSERT(unit_lines(text) == 1 && strstr(text, "PE 1"));
    }
    free(bytes);
}

/* Any 4 bytes set to extremes must be refused or still lead to reads inside the blob only. */
static void survives_changed_bytes(void)
{
    static const uint32_t values[] = {0, 0xffffffff, 0x7fffffff, 0x80000000, 0xfffffff8, 1, 4096};
    char text[4096];
    void *bytes;
    size_t len;

    make_job();
    CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
    for (size_t at = 0; at + 4 <= len; at += 4) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char *copy = malloc(len);

            memcpy(copy, bytes, len);
            memcpy(copy + at, &values[v], 4);
            open_copy(copy, len, text, sizeof text);
            CU_ASSERT(unit_lines(text) <= 1);
            free(copy);
        }
    }
    free(bytes);
}

static void refuses_another_heap_size(void)
{
    char text[4096];
    void *bytes;
    size_t len;

    make_job();
    CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
    job.heap.seg[WSH_SEG_HEAP].len = 8192;
    CU_ASSERT(open_copy(bytes, len, text, sizeof text) < 0);
    CU_ASSERT(unit_lines(text) == 1 && strstr(text, "SHMEM_SYMMETRIC_SIZE"));
    free(bytes);
}

static void refuses_another_mode(void)
{
    char text[4096];
    void *bytes;
    size_t len;

    make_job();
    CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
    job.env.on_pe_failure = WSH_ON_PE_FAILURE_CONTINUE;
    CU_ASSERT(open_copy(bytes, len, text, sizeof text) < 0);
    CU_ASSERT(unit_lines(text) == 1 && strstr(text, "abort at PE 1 and continue at PE 0"));
    free(bytes);
    CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
    CU_ASSERT(open_copy(bytes, len, text, sizeof text) == 0);
    job.env.on_pe_failure = WSH_ON_PE_FAILURE_ABORT;
    CU_ASSERT(open_copy(bytes, len, text, sizeof text) < 0);
    CU_ASSERT(unit_lines(text) == 1 && strstr(text, "abort at PE 0 and continue at PE 1"));
    free(bytes);
}

static void refuses_another_layout_of_static_data(void)
{
    char text[4096];
    void *bytes;
    size_t len;

    make_job();
    job.heap.seg[WSH_SEG_STATIC].len = 8192;
    CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
    CU_ASSERT(open_copy(bytes, len, text, sizeof text) == 0);
    job.heap.seg[WSH_SEG_STATIC].len = 65536;
    CU_ASSERT(open_copy(bytes, len, text, sizeof text) < 0);
    CU_ASSERT(unit_lines(text) == 1 && strstr(text, "SHMEM_STATIC=off"));
    job.heap.seg[WSH_SEG_STATIC].len = 0;
    CU_ASSERT(open_copy(bytes, len, text, sizeof text) == 0);
    free(bytes);
}

const struct unit_test unit_tests[] = {
    {"reads back what was written", reads_back_what_was_written},
    {"says which processors it may use", says_which_processors_it_may_use},
    {"refuses cut blobs", refuses_cut_blobs},
    {"survives changed bytes", survives_changed_bytes},
    {"refuses another heap size", refuses_another_heap_size},
    {"refuses another mode", refuses_another_mode},
    {"refuses another layout of static data", refuses_another_layout_of_static_data},
    {NULL, NULL},
};
