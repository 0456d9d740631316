/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of marks.h, a part of kernels.cu. */
#ifndef WSH_EP_DEVICE_MARKS_CUH
#define WSH_EP_DEVICE_MARKS_CUH

#include <stdio.h>
#include <time.h>

/* What a call does until each mark. */
static const char *const ep_low_phases[EP_MARKS] = {
    "dispatch",     "rank tokens",  "announce counts", "send rows", "wait for counts",
    "give numbers", "receive rows", NULL,
    "combine",  "find rows",   "send results",    "wait for all to begin", "receive and sum"};
static const char *const ep_high_phases[EP_MARKS] = {
    "dispatch", NULL, NULL,           "send rows", NULL, NULL, "receive rows", NULL,
    "combine",  NULL, "send results", NULL,        "receive and sum"};

/* A kernel answers the host's words 1 to EP_MARK_READINGS with the time. Pinned memory. */
struct ep_readings {
    volatile uint64_t asked, answered, gpu[EP_MARK_READINGS + 1];
};

static __global__ void ep_kernel_read_clock(struct ep_readings *readings)
{
    for (uint64_t i = 1; i <= EP_MARK_READINGS; i++) {
        while (readings->asked < i)
            ;
        readings->gpu[i] = ep_gpu_time();
        __threadfence_system();
        readings->answered = i;
    }
}

static uint64_t ep_host_time()
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The shortest of several round trips; half of it may be wrong. */
static cudaError_t ep_read_clocks(cudaStream_t stream, struct ep_moment *moment)
{
    struct ep_readings *readings;
    cudaError_t status = cudaHostAlloc((void **)&readings, sizeof *readings, cudaHostAllocMapped);

    if (status)
        return status;
    memset((void *)readings, 0, sizeof *readings);
    moment->error = UINT64_MAX;
    ep_kernel_read_clock<<<1, 1, 0, stream>>>(readings);
    status = cudaGetLastError();
    for (uint64_t i = 1; i <= EP_MARK_READINGS && !status; i++) {
        uint64_t before = ep_host_time(), passed;
        unsigned polls = 0;

        readings->asked = i;
        while (readings->answered < i && !status)
            if (++polls % 8192 == 0 && cudaStreamQuery(stream) != cudaErrorNotReady)
                status = readings->answered < i ? cudaErrorUnknown : cudaSuccess;
        passed = ep_host_time() - before;
        if (passed / 2 < moment->error)
            *moment = {readings->gpu[i], before + passed / 2, passed / 2};
    }
    readings->asked = EP_MARK_READINGS;
    cudaStreamSynchronize(stream);
    cudaFreeHost((void *)readings);
    return status;
}

/* A time of the GPU by the host's clock. */
static uint64_t ep_host_time_of(uint64_t gpu, const struct ep_moment *first, const struct ep_moment *last)
{
    double gpus = (double)(last->gpu - first->gpu);
    double rate = last->gpu > first->gpu ? (double)(int64_t)(last->host - first->host) / gpus : 1;

    return first->host + (uint64_t)(int64_t)((double)(int64_t)(gpu - first->gpu) * rate);
}

/* The marks of a call that a row has: the whole as a slice, and in it each phase until a mark. */
static void ep_trace_row(const struct ep_mark_row *row, const char *const *phases, const char *line,
                         const struct ep_moment *first, const struct ep_moment *last)
{
    int begin = row->at[0] ? 0 : EP_MARK_COMBINE, end = begin;
    uint64_t from = row->at[begin];

    for (int i = begin + 1; i < begin + EP_MARK_COMBINE; i++)
        end = row->at[i] ? i : end;
    if (!from || end == begin)
        return;
    wsh_trace_span(line, phases[begin], ep_host_time_of(from, first, last),
                   ep_host_time_of(row->at[end], first, last), -1, 0, false);
    for (int i = begin + 1; i <= end; i++) {
        if (!row->at[i] || !phases[i])
            continue;
        if (row->at[i] > from)
            wsh_trace_span(line, phases[i], ep_host_time_of(from, first, last),
                           ep_host_time_of(row->at[i], first, last), -1, 0, false);
        from = row->at[i];
    }
}

static cudaError_t ep_marks_open(struct ep_marks **marks, cudaStream_t stream, struct ep_moment *first)
{
    cudaError_t status = wsh_trace_span ? cudaMalloc((void **)marks, sizeof **marks) : cudaSuccess;

    if (!status && *marks)
        status = cudaMemsetAsync(*marks, 0, sizeof **marks, stream);
    if (!status && *marks)
        status = ep_read_clocks(stream, first);
    return status;
}

/* After the last call. What cannot be read is not in the trace. */
static void ep_marks_close(struct ep_marks *marks, cudaStream_t stream, const struct ep_moment *first,
                           const char *const *phases)
{
    struct ep_marks *read = marks ? (struct ep_marks *)malloc(sizeof *read) : NULL;
    struct ep_moment last;
    char line[40];

    if (read && !ep_read_clocks(stream, &last) &&
        !cudaMemcpy(read, marks, sizeof *read, cudaMemcpyDeviceToHost)) {
        snprintf(line, sizeof line, "GPU, clock to %.1f us",
                 (double)(first->error > last.error ? first->error : last.error) / 1000);
        for (uint64_t i = read->n > EP_MARK_ROWS ? read->n - EP_MARK_ROWS : 0; i < read->n; i++)
            ep_trace_row(&read->row[i % EP_MARK_ROWS], phases, line, first, &last);
    }
    free(read);
    cudaFree(marks);
}

#endif
