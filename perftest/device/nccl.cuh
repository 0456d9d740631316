/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NCCL under the names by which device programs start a library and take memory. PERF_NCCL says in which of
 * its modes, as words in any order: window (buffers in registered symmetric windows), native (ncclAlltoAll
 * instead of grouped sends and receives), copy (the copy engines, no thread block, where they can).
 */
#ifndef PERFTEST_DEVICE_NCCL_CUH
#define PERFTEST_DEVICE_NCCL_CUH

#include <nccl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perftest/device/pass_id.h"

extern "C" {
#include "perftest/device/rows.h"
}

enum { PERF_WINDOWS = 8 };

static struct {
    struct perf_launch launch;
    ncclComm_t comm;
    cudaStream_t stream;
    int64_t *word;
    bool window, native, copy;
#if NCCL_VERSION_CODE >= 22700
    struct {
        void *memory;
        ncclWindow_t handle;
    } windows[PERF_WINDOWS];
#endif
} perf_nccl;

static void perf_nccl_must(ncclResult_t result, const char *what)
{
    if (result == ncclSuccess)
        return;
    fprintf(stderr, "%s: %s: %s (%s)\n", dev_table.name, what, ncclGetErrorString(result),
            perf_nccl.comm ? ncclGetLastError(perf_nccl.comm) : "no communicator");
    _exit(1);
}

/* Reads the modes that PERF_NCCL asks for. 0, or -1 after a line where this NCCL lacks one. */
static int perf_nccl_modes()
{
    const char *modes = getenv("PERF_NCCL") ? getenv("PERF_NCCL") : "";

    perf_nccl.window = strstr(modes, "window") != NULL;
    perf_nccl.native = strstr(modes, "native") != NULL;
    perf_nccl.copy = strstr(modes, "copy") != NULL;
    if ((NCCL_VERSION_CODE < 22700 && perf_nccl.window) ||
        (NCCL_VERSION_CODE < 22800 && (perf_nccl.native || perf_nccl.copy))) {
        fprintf(stderr, "%s: NCCL %d has no '%s'\n", dev_table.name, NCCL_VERSION_CODE, modes);
        return -1;
    }
    return 0;
}

static int perf_start(int gpus)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    struct perf_launch *launch = &perf_nccl.launch;
    ncclUniqueId id = {};

    if (perf_nccl_modes())
        return -1;
    if (!perf_launched(launch))
        *launch = perf_launch{0, 1, "/dev/null"};
#ifdef NCCL_CTA_POLICY_ZERO
    if (perf_nccl.copy)
        config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
#endif
    if (cudaSetDevice(launch->pe % gpus) != cudaSuccess ||
        (launch->pe == 0 && ncclGetUniqueId(&id) != ncclSuccess) ||
        (launch->npes > 1 && perf_pass_id(&id, sizeof id, launch)) ||
        cudaStreamCreateWithFlags(&perf_nccl.stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc(&perf_nccl.word, sizeof *perf_nccl.word) != cudaSuccess) {
        fprintf(stderr, "%s: PE %d of %d could not start with the id in %s\n", dev_table.name, launch->pe,
                launch->npes, launch->path);
        return -1;
    }
    perf_nccl_must(ncclCommInitRankConfig(&perf_nccl.comm, launch->npes, id, launch->pe, &config),
                   "ncclCommInitRank");
    return 0;
}

static int perf_pe()
{
    return perf_nccl.launch.pe;
}

static int perf_pes()
{
    return perf_nccl.launch.npes;
}

static const char *perf_library(char *name, size_t len)
{
    int version = 0;

    ncclGetVersion(&version);
    snprintf(name, len, "NCCL %d.%d.%d%s%s%s", version / 10000, version / 100 % 100, version % 100,
             perf_nccl.window ? " window" : "", perf_nccl.native ? " native" : "",
             perf_nccl.copy ? " copy" : "");
    return name;
}

/* NCCL does not say. */
static const char *perf_transport(const void *, int)
{
    return NULL;
}

static void perf_fail()
{
    _exit(1);
}

/* All PEs have come; what is in other streams is not awaited. */
static void perf_barrier()
{
    perf_nccl_must(ncclAllReduce(perf_nccl.word, perf_nccl.word, 1, ncclInt64, ncclSum, perf_nccl.comm,
                                 perf_nccl.stream),
                   "a barrier");
    if (cudaStreamSynchronize(perf_nccl.stream) != cudaSuccess)
        perf_fail();
}

static void perf_figures_share(double *figures, const double *mine, int count, int stride)
{
    size_t len = count * sizeof *mine;

    cudaMemcpyAsync(figures + (size_t)perf_pe() * stride, mine, len, cudaMemcpyDeviceToDevice,
                    perf_nccl.stream);
    perf_nccl_must(ncclAllGather(figures + (size_t)perf_pe() * stride, figures, stride, ncclDouble,
                                 perf_nccl.comm, perf_nccl.stream),
                   "figures for all");
}

/* A registered symmetric window. */
static void *perf_malloc_window(size_t len)
{
    void *memory = NULL;

#if NCCL_VERSION_CODE >= 22700
    int i = 0;

    while (i < PERF_WINDOWS && perf_nccl.windows[i].memory)
        i++;
    if (i == PERF_WINDOWS || ncclMemAlloc(&memory, (len + 4095) & ~(size_t)4095) != ncclSuccess)
        return NULL;
    perf_nccl.windows[i].memory = memory;
    perf_nccl_must(ncclCommWindowRegister(perf_nccl.comm, memory, (len + 4095) & ~(size_t)4095,
                                          &perf_nccl.windows[i].handle, NCCL_WIN_COLL_SYMMETRIC),
                   "ncclCommWindowRegister");
#endif
    return memory;
}

/* Collective. */
static void *perf_malloc(size_t len)
{
    void *memory = NULL;

    if (perf_nccl.window)
        return perf_malloc_window(len);
    return cudaMalloc(&memory, len) == cudaSuccess ? memory : NULL;
}

static void perf_free(void *memory)
{
#if NCCL_VERSION_CODE >= 22700
    for (int i = 0; i < PERF_WINDOWS; i++)
        if (perf_nccl.windows[i].memory == memory) {
            perf_nccl_must(ncclCommWindowDeregister(perf_nccl.comm, perf_nccl.windows[i].handle),
                           "ncclCommWindowDeregister");
            perf_nccl.windows[i].memory = NULL;
            ncclMemFree(memory);
            return;
        }
#endif
    cudaFree(memory);
}

static void perf_stop()
{
    cudaFree(perf_nccl.word);
    cudaStreamDestroy(perf_nccl.stream);
    ncclCommDestroy(perf_nccl.comm);
}

#endif
