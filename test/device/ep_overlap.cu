/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A compute kernel of the program's between the halves of a call, on the same stream and on another one: results stay
 * right, and how much longer that kernel takes than alone is printed.
 * paths: gpu:2,4 gpu1:2,4,8 gpumixed:2
 * timeout: 300
 */
#include "test/device/ep.cuh"

enum { STEPS = 20000, TIMES = 5 };

static float *numbers;
static double spent;

static __global__ void compute(float *numbers)
{
    float a = numbers[threadIdx.x], b = 1.0001f;

    for (int i = 0; i < STEPS; i++)
        a = a * b + 0.5f;
    numbers[threadIdx.x] = a;
}

static double time_compute(cudaStream_t stream)
{
    cudaEvent_t before, after;
    float ms = 0;

    mp_check(!cudaEventCreate(&before) && !cudaEventCreate(&after), "events");
    mp_check(!cudaEventRecord(before, stream), "an event");
    compute<<<32, 256, 0, stream>>>(numbers);
    mp_check(!cudaEventRecord(after, stream), "an event");
    mp_check(!cudaEventSynchronize(after), "the compute kernel: %s", cudaGetErrorString(cudaGetLastError()));
    mp_check(!cudaEventElapsedTime(&ms, before, after), "a time");
    mp_check(!cudaEventDestroy(before) && !cudaEventDestroy(after), "events");
    return ms * 1e3;
}

static void compute_between(struct ep_world *world)
{
    spent += time_compute(world->stream);
}

static void run(enum ref_mode mode)
{
    struct ep_case of = ep_case_of(mode, REF_BF16, REF_UNIFORM);
    struct ep_world world;
    double alone = 0;

    of.hidden = 2048;
    of.topk = 4;
    of.mine = 4;
    of.tokens = 128;
    of.options = EP_APART;
    dev_case("%s", ep_case_name(&of));
    ep_open(&world, &of);
    world.between = compute_between;
    ep_call(&world, 1);
    shmem_barrier_all();
    for (int i = 0; i < 2 * TIMES; i++)
        alone += time_compute(world.stream);
    shmem_barrier_all();
    spent = 0;
    for (int64_t call = 2; call < 2 + TIMES; call++)
        ep_call(&world, call);
    mp_note("a compute kernel: alone %.1f us, between halves %.1f us", alone / (2 * TIMES), spent / (2 * TIMES));
    ep_close(&world);
}

int main(void)
{
    dev_begin();
    mp_check(!cudaMalloc((void **)&numbers, 256 * sizeof *numbers), "cudaMalloc");
    mp_check(!cudaMemset(numbers, 0, 256 * sizeof *numbers), "cudaMemset");
    for (int mode = 0; mode < REF_MODES; mode++)
        run((enum ref_mode)mode);
    return dev_end();
}
