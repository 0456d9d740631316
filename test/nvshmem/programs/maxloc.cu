/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the largest value is: pairs of a value and a place, few and many, in place too; of a team of the even PEs. As
 * solvers with pivoting find their row.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { MOST = 5000, THREADS = 256 };

/* What PE `pe` says of row i; the PEs 0 and 1 say the same in every third row. */
static __host__ __device__ double2 said(int pe, int i)
{
    if (i % 3 == 0 && pe < 2)
        return make_double2(100 + i, 5000 - pe);
    return make_double2((pe * 7 + i * 3) % 11 - 5.5, pe * 1000 + i);
}

static double2 largest(int npes, int stride, int i)
{
    double2 best = said(0, i);

    for (int pe = stride; pe < npes; pe += stride) {
        double2 next = said(pe, i);

        if (next.x > best.x || (next.x == best.x && next.y < best.y))
            best = next;
    }
    return best;
}

__global__ void say(double2 *pairs, int mype)
{
    for (int i = threadIdx.x; i < MOST; i += blockDim.x)
        pairs[i] = said(mype, i);
}

__global__ void find(nvshmem_team_t team, double2 *dest, const double2 *source, size_t count, int *status)
{
    int got = nvshmemx_double2_maxloc_reduce_block(team, dest, source, count);

    if (got)
        atomicAdd(status, 1);
}

static void check(const double2 *device, int count, int npes, int stride)
{
    static double2 host[MOST];

    to_host(host, device, count);
    for (int i = 0; i < count; i++) {
        double2 best = largest(npes, stride, i);

        CHECK(host[i].x == best.x && host[i].y == best.y);
    }
}

int main(void)
{
    static const int counts[] = {1, 1, 2, 7, 100, MOST};
    nvshmem_team_t even;

    begin();
    double2 *source = symmetric<double2>(MOST), *dest = symmetric<double2>(MOST);
    int *status = symmetric<int>(1);

    CHECK(!nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &even));
    for (int count : counts) {
        RUN(say<<<1, THREADS, 0, stream>>>(source, me));
        nvshmem_barrier_all();
        RUN(find<<<1, THREADS, 0, stream>>>(NVSHMEM_TEAM_WORLD, dest, source, count, status));
        check(dest, count, n, 1);
        if (even != NVSHMEM_TEAM_INVALID) {
            RUN(find<<<1, 32, 0, stream>>>(even, dest, source, count, status));
            check(dest, count, n, 2);
        }
        nvshmem_barrier_all();
        RUN(find<<<1, THREADS, 0, stream>>>(NVSHMEM_TEAM_WORLD, source, source, count, status));
        check(source, count, n, 1);
        nvshmem_barrier_all();
    }
    CHECK(at(status) == 0);
    nvshmem_free(dest);
    nvshmem_free(source);
    return finish();
}
