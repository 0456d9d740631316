/* SPDX-License-Identifier: BSD-3-Clause */
/* The host side of the tests of device code. */
#include "test/device/dev.cuh"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CASE_SECONDS = 20, REGISTERED = 64 << 20 };

static char current[128];
static double started;

/* A kernel that never ends keeps the process in the driver: only a signal handler still runs. */
static void too_long(int)
{
    static const char text[] = ": no end within its time\n";

    (void)!write(STDERR_FILENO, current, strlen(current));
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(MP_FAILED);
}

static unsigned limit(void)
{
    const char *slow = getenv("WSH_TEST_SLOW");

    return CASE_SECONDS * (slow ? (unsigned)atoi(slow) : 1);
}

static void end_case(void)
{
    if (!current[0])
        return;
    dev_wait();
    shmem_barrier_all();
    if (mp_me == 0) {
        printf("# %s: %.3f s\n", current, mp_now() - started);
        fflush(stdout);
    }
}

/* What a case waits for is reported before its time is over. */
static void hang_sooner(void)
{
    const char *hang = getenv("SHMEM_HANG_SECONDS");
    unsigned seconds = limit() / 2;
    char text[16];

    if (hang && atoi(hang) && (unsigned)atoi(hang) < seconds)
        return;
    snprintf(text, sizeof text, "%u", seconds);
    setenv("SHMEM_HANG_SECONDS", text, 1);
}

void dev_begin(void)
{
    int gpus = 0;

    hang_sooner();
    /* Loading a kernel lazily would wait for one that spins, which waits for the kernel to be loaded. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    mp_begin();
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0)
        mp_skip("no GPU that CUDA can use");
    mp_check(cudaSetDevice(mp_me % gpus) == cudaSuccess, "cudaSetDevice(%d)", mp_me % gpus);
    signal(SIGALRM, too_long);
    alarm(limit());
}

int dev_end(void)
{
    end_case();
    alarm(0);
    return mp_end();
}

void dev_case(const char *fmt, ...)
{
    va_list args;

    end_case();
    va_start(args, fmt);
    vsnprintf(current, sizeof current, fmt, args);
    va_end(args);
    started = mp_now();
    alarm(limit());
}

/* Pieces of one allocation of the program's own that all PEs have registered. */
static void *from_registered(size_t len)
{
    static char *next, *end;
    char *memory;

    if (!next) {
        mp_check(cudaMalloc((void **)&next, REGISTERED) == cudaSuccess, "cudaMalloc of %d bytes", (int)REGISTERED);
        mp_check(cudaMemset(next, 0, REGISTERED) == cudaSuccess, "cudaMemset");
        dev_wait();
        next = (char *)shmemx_buffer_register_symmetric(next, REGISTERED, 0);
        end = next ? next + REGISTERED : NULL;
    }
    memory = next;
    next += (len + 255) / 256 * 256;
    return next <= end ? memory : NULL;
}

void *dev_alloc(size_t len)
{
    const char *kind = getenv("WSH_DEV_MEMORY");
    void *memory = kind && !strcmp(kind, "registered") ? from_registered(len) : shmemx_calloc_device(1, len);

    if (!memory) {
        fprintf(stderr, "PE %d: no symmetric device memory of %zu bytes\n", mp_me, len);
        shmem_global_exit(MP_FAILED);
    }
    return memory;
}

void *dev_share(size_t len)
{
    void *memory = NULL;

    if (cudaHostAlloc(&memory, len, cudaHostAllocMapped) != cudaSuccess) {
        fprintf(stderr, "PE %d: no pinned memory of %zu bytes\n", mp_me, len);
        shmem_global_exit(MP_FAILED);
    }
    memset(memory, 0, len);
    return memory;
}

bool dev_has_other_hosts(void)
{
    return mp_path_is("gpumixed") || mp_path_is("gpumixedefa") || mp_path_is("gpuhmemefa") || mp_path_is("gpugda");
}

bool dev_litmus_wants(const char *kind)
{
    const char *list = getenv("WSH_LITMUS_KINDS");
    size_t len = strlen(kind);

    if (!list || !*list)
        return true;
    for (const char *at = strstr(list, kind); at; at = strstr(at + len, kind))
        if ((at == list || at[-1] == ',') && (at[len] == ',' || !at[len]))
            return true;
    return false;
}

bool dev_wait(void)
{
    cudaError_t rc = cudaDeviceSynchronize();

    return mp_check(rc == cudaSuccess, "%s: %s", current, cudaGetErrorString(rc));
}

/* Small copies from pageable memory return before they have landed, and a peer may read next. */
void dev_upload(void *dev, const void *host, size_t len)
{
    mp_check(cudaMemcpy(dev, host, len, cudaMemcpyHostToDevice) == cudaSuccess, "copy to the GPU");
    dev_wait();
}

void dev_download(void *host, const void *dev, size_t len)
{
    mp_check(cudaMemcpy(host, dev, len, cudaMemcpyDeviceToHost) == cudaSuccess, "copy from the GPU");
}

void dev_check_report(struct dev_report *report, const char *what)
{
    dev_wait();
    mp_check(!report->wrong, "%s: %s: %u times, first at %llu: %llu, not %llu", current, what, report->wrong,
             report->where, report->got, report->expected);
    memset(report, 0, sizeof *report);
}
