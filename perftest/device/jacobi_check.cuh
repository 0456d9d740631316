/* SPDX-License-Identifier: BSD-3-Clause */
/* The same iterations by one GPU alone, and how far a run's result is from its. */
#ifndef PERFTEST_DEVICE_JACOBI_CHECK_CUH
#define PERFTEST_DEVICE_JACOBI_CHECK_CUH

#include "perftest/device/jacobi_run.cuh"

/* The largest difference that is right: of an element, and of a sum of squares relative to it. */
#define JACOBI_TOLERANCE 1e-5

struct jacobi_serial {
    struct jacobi_args a; /* of the whole grid; ordinary memory */
    int iterations;
    double seconds;
    double *wrong; /* of this GPU: elements, sums */
};

static void jacobi_serial_free(struct jacobi_serial *s)
{
    cudaFree(s->a.grid.a[0]);
    cudaFree(s->a.changed);
    *s = jacobi_serial{};
}

/* Whether it is the row's already. */
static bool jacobi_serial_fits(const struct jacobi_serial *s, const struct jacobi *j)
{
    return s->a.grid.nx == j->a.grid.nx && s->a.grid.ny == j->a.grid.ny && s->iterations == j->iterations;
}

static void jacobi_serial_open(struct jacobi_serial *s, const struct jacobi *j)
{
    struct jacobi_grid *g = &s->a.grid;
    size_t len;

    *g = j->a.grid;
    g->rows = g->ny;
    g->first_row = 0;
    jacobi_cut(g);
    len = (size_t)g->pitch * (g->rows + 2 + JACOBI_ROWS);
    dev_cuda(cudaMalloc(&g->a[0], 2 * len * sizeof(float)), "memory for the run on one GPU (--no-check)");
    g->a[1] = g->a[0] + len;
    dev_cuda(cudaMalloc(&s->a.changed, (j->count + 2) * sizeof *s->a.changed), "cudaMalloc");
    s->wrong = s->a.changed + j->count;
    s->a.norm = j->a.norm;
    s->iterations = j->iterations;
}

/* Runs it, if another row's is there; timed the second time. */
static void jacobi_serial_run(struct jacobi_serial *s, const struct jacobi *j)
{
    if (jacobi_serial_fits(s, j))
        return;
    jacobi_serial_free(s);
    jacobi_serial_open(s, j);
    for (int turn = 0; turn < 2; turn++) {
        double began;

        jacobi_fill<<<j->sms, 512>>>(s->a.grid);
        dev_cuda(cudaMemset(s->a.changed, 0, j->count * sizeof *s->a.changed), "cudaMemset");
        dev_cuda(cudaDeviceSynchronize(), "the start on one GPU");
        began = perf_now();
        for (int k = 0; k < s->iterations; k++)
            jacobi_alone<<<jacobi_tiles(s->a.grid), JACOBI_THREADS, 0, j->edges>>>(s->a, k);
        dev_cuda(cudaGetLastError(), "a launch");
        dev_cuda(cudaStreamSynchronize(j->edges), "the run on one GPU");
        s->seconds = (perf_now() - began) * 1e-9;
    }
}

static __global__ void jacobi_differ(const float *mine, const float *right, struct jacobi_grid g, double *wrong)
{
    size_t threads = (size_t)gridDim.x * blockDim.x, cells = (size_t)g.rows * g.pitch;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += threads)
        if ((int)(i % g.pitch) < g.nx && !(fabsf(mine[i] - right[i]) <= (float)JACOBI_TOLERANCE))
            atomicAdd(wrong, 1.0);
}

static __global__ void jacobi_differ_norms(const double *mine, const double *right, int count, double *wrong)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (!(fabs(mine[i] - right[i]) <= JACOBI_TOLERANCE * right[i]))
            atomicAdd(wrong, 1.0);
}

/* Elements and sums of the last run that are wrong. */
static double jacobi_wrong(const struct jacobi_serial *s, const struct jacobi *j)
{
    const struct jacobi_grid *g = &j->a.grid;
    int last = j->iterations % 2;
    size_t pitch = (size_t)g->pitch;
    double wrong[2];

    dev_cuda(cudaMemset(s->wrong, 0, 2 * sizeof *s->wrong), "cudaMemset");
    jacobi_differ<<<4 * j->sms, 512>>>(g->a[last] + pitch, s->a.grid.a[last] + pitch * (g->first_row + 1), *g,
                                       s->wrong);
    jacobi_differ_norms<<<1, 512>>>(j->a.norms, s->a.changed, j->count, s->wrong + 1);
    dev_cuda(cudaMemcpy(wrong, s->wrong, sizeof wrong, cudaMemcpyDeviceToHost), "copy from the GPU");
    if (wrong[0] + wrong[1] > 0)
        fprintf(stderr, "jacobi: PE %d: %.0f elements and %.0f sums differ from those of one GPU by more than %g\n",
                j->job.me, wrong[0], wrong[1], JACOBI_TOLERANCE);
    return wrong[0] + wrong[1];
}

#endif
