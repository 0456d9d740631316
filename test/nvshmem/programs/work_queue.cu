/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A work queue: threads of all PEs take tasks by fetch_add at PE 0, until none is left; each task is done once.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { TASKS = 2000, THREADS = 16 };

__global__ void work(int *ticket, int *done, int *taken)
{
    int npes = nvshmem_n_pes();

    for (;;) {
        int task = nvshmem_int_atomic_fetch_add(ticket, 1, 0);

        if (task >= TASKS)
            break;
        atomicAdd(taken, 1);
        nvshmem_int_atomic_inc(done + task / npes, task % npes); /* where the result belongs */
    }
    nvshmem_quiet();
}

int main(void)
{
    begin();
    int *ticket = symmetric<int>(3), *done = symmetric<int>(TASKS), host[TASKS], *total;

    RUN(work<<<1, THREADS, 0, stream>>>(ticket, done, ticket + 1));
    nvshmem_barrier_all();
    to_host(host, done, TASKS);
    for (int task = me; task < TASKS; task += n)
        CHECK(host[task / n] == 1);
    CHECK(!nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, ticket + 2, ticket + 1, 1, stream));
    CHECK(at(ticket + 2) == TASKS);
    total = (int *)nvshmem_ptr(ticket, 0);
    if (me == 0)
        CHECK(total == ticket && at(total) == TASKS + n * THREADS);
    nvshmem_barrier_all();
    nvshmem_free(done);
    nvshmem_free(ticket);
    return finish();
}
