/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel that all PEs launch together is whole on its GPU: its blocks wait for each other, and each for the block of
 * the same number at the next PE. Grids that do not fit start nowhere.
 * paths: gpu:1,2,4 gpu1:2,4
 * timeout: 120
 */
#include "test/device/dev.cuh"

#include <cooperative_groups.h>

enum { THREADS = 256, ROUNDS = 20, SLOTS = 1 << 16 };

/* Every block tells the next PE's block of a round, and goes on when it has heard, and its grid with it. */
__global__ void ring(uint64_t *heard, unsigned blocks, uint64_t first, struct dev_report *report)
{
    int right = (shmem_my_pe() + 1) % shmem_n_pes();

    for (uint64_t round = first; round < first + ROUNDS; round++) {
        if (threadIdx.x == 0 && blockIdx.x < blocks) {
            shmemx_signal_op(&heard[blockIdx.x], round, SHMEM_SIGNAL_SET, right);
            shmem_signal_wait_until(&heard[blockIdx.x], SHMEM_CMP_GE, round);
        }
        cooperative_groups::this_grid().sync();
        for (unsigned i = threadIdx.x; i < blocks; i += blockDim.x)
            dev_expect(report, i, 1, heard[i] >= round);
    }
}

static int launch(uint64_t *heard, unsigned grid, unsigned blocks, uint64_t first, struct dev_report *report)
{
    void *args[] = {&heard, &blocks, &first, &report};
    int status = shmemx_collective_launch((const void *)ring, dim3(grid), dim3(THREADS), args, 0, 0);

    dev_check_report(report, "a ring of blocks");
    return status;
}

/* The fewest that any PE's GPU holds: each block has a partner. */
static unsigned room(void)
{
    int *most = (int *)shmem_malloc(2 * sizeof *most), least;

    mp_check(shmemx_collective_launch_query_gridsize((const void *)ring, dim3(THREADS), NULL, 0, &most[0]) == 0,
             "the query fails");
    shmem_int_min_reduce(SHMEM_TEAM_WORLD, &most[1], &most[0], 1);
    least = most[1];
    shmem_free(most);
    mp_check(least > 0 && least <= SLOTS, "room for %d blocks", least);
    return (unsigned)least;
}

int main(void)
{
    struct dev_report *report;
    uint64_t *heard;
    unsigned most;

    dev_begin();
    dev_case("memory");
    report = (struct dev_report *)dev_share(sizeof *report);
    heard = (uint64_t *)dev_alloc(SLOTS * sizeof *heard);
    most = room();
    dev_case("%u blocks", most);
    mp_check(launch(heard, most, most, 1, report) == 0, "a grid that fits does not start");
    mp_check(launch(heard, 0, most, 1 + ROUNDS, report) == 0, "the largest grid does not start");
    dev_case("more than fits");
    mp_check(launch(heard, mp_me == mp_npes - 1 ? 1u << 20 : 1, 1, 1 + 2 * ROUNDS, report) != 0,
             "a grid that does not fit starts");
    return dev_end();
}
