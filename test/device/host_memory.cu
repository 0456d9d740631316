/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels take addresses of the host heap and of static data, this PE's own and other PEs': put, get, p, g, signals
 * and waits; host code sees what kernels put there, kernels see what host code puts; flags in one kind of memory
 * announce data in the other; the host waits for a kernel's signal.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2
 * timeout: 300
 */
#include "test/device/dev.cuh"

#define WORDS 5000

static uint64_t static_data[WORDS];
static uint64_t static_flag;

struct place {
    uint64_t *data, *flag; /* symmetric, of either kind */
    uint64_t *source;      /* device memory */
};

__global__ void send(struct place p, uint64_t round, int pe)
{
    for (size_t i = threadIdx.x; i < WORDS; i += blockDim.x)
        p.source[i] = round * 31 + i;
    shmem_uint64_put_signal_block(p.data, p.source, WORDS, p.flag, round, SHMEM_SIGNAL_SET, pe);
}

__global__ void receive(struct place p, uint64_t round, struct dev_report *report)
{
    shmem_uint64_wait_until_block(p.flag, SHMEM_CMP_GE, round);
    for (size_t i = threadIdx.x; i < WORDS; i += blockDim.x)
        dev_expect(report, i, round * 31 + i, p.data[i]);
}

__global__ void get_and_one(struct place p, uint64_t round, int pe, struct dev_report *report)
{
    shmem_uint64_get_warp(p.source, p.data, WORDS, pe);
    for (size_t i = threadIdx.x; i < WORDS; i += blockDim.x)
        dev_expect(report, i, round * 31 + i, p.source[i]);
    __syncwarp();
    if (threadIdx.x)
        return;
    dev_expect(report, 5, round * 31 + 5, shmem_uint64_g(p.data + 5, pe));
    shmem_uint64_p(p.data + 6, round, pe);
    shmem_quiet();
    dev_expect(report, 6, round, shmem_uint64_atomic_fetch(p.data + 6, pe));
    shmem_uint64_atomic_set(p.data + 6, round * 31 + 6, pe);
    shmem_quiet();
}

static uint64_t round_no;

/* Kernel to kernel, and at the end kernel to host where the host can look. */
static void run(const char *name, struct place p, bool host_sees, struct dev_report *report)
{
    dev_case("%s", name);
    for (int i = 0; i < mp_rounds(20, 500); i++) {
        round_no++;
        send<<<1, 128>>>(p, round_no, mp_right());
        if (host_sees && i % 2) {
            shmem_signal_wait_until(p.flag, SHMEM_CMP_GE, round_no);
            for (size_t at = 0; at < WORDS; at++)
                if (!mp_check(p.data[at] == round_no * 31 + at, "%s: word %zu after the signal", name, at))
                    break;
        } else {
            receive<<<1, 128>>>(p, round_no, report);
        }
        dev_check_report(report, name);
        shmem_barrier_all();
        get_and_one<<<1, 32>>>(p, round_no, mp_right(), report);
        dev_check_report(report, "get, p, g");
        shmem_barrier_all();
    }
}

/* The host sends, a kernel that runs already receives. */
static void from_host(struct place p, uint64_t *host_source, struct dev_report *report)
{
    dev_case("host to kernel");
    for (int i = 0; i < mp_rounds(20, 500); i++) {
        round_no++;
        receive<<<1, 128>>>(p, round_no, report);
        for (size_t at = 0; at < WORDS; at++)
            host_source[at] = round_no * 31 + at;
        shmem_uint64_put(p.data, host_source, WORDS, mp_right());
        shmem_fence();
        shmem_signal_set(p.flag, round_no, mp_right());
        shmem_quiet();
        dev_check_report(report, "host to kernel");
        shmem_barrier_all();
    }
}

int main(void)
{
    uint64_t *device, *device_flag, *host, *host_flag, *source, *host_source;
    struct dev_report *report;

    dev_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    device = (uint64_t *)dev_alloc(WORDS * 8);
    source = (uint64_t *)dev_alloc(WORDS * 8);
    device_flag = (uint64_t *)dev_alloc(8);
    host = (uint64_t *)mp_alloc(WORDS * 8);
    host_flag = (uint64_t *)mp_alloc(8);
    host_source = (uint64_t *)mp_alloc(WORDS * 8);
    run("host heap", place{host, host_flag, source}, true, report);
    run("static data", place{static_data, &static_flag, source}, true, report);
    run("data in device memory, flag in the host heap", place{device, host_flag, source}, false, report);
    run("data in the host heap, flag in device memory", place{host, device_flag, source}, false, report);
    from_host(place{host, host_flag, source}, host_source, report);
    from_host(place{device, device_flag, source}, host_source, report);
    from_host(place{device, host_flag, source}, host_source, report);
    return dev_end();
}
