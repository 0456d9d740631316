/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start by a unique id without the launcher's help, from host code.
 * paths: fakegpu:2,4 gpu:2,4 gpu1:2
 * timeout: 120
 */
#include "launcher.cuh"

int main()
{
    int rank = launch_rank(), size = launch_size();

    init_by_id(rank, size, 0);
    look_around_host();
    int *word = symmetric<int>(1);

    nvshmem_int_p(word, 100 + me, right);
    nvshmem_barrier_all();
    CHECK(nvshmem_int_g(word, me) == 100 + left);
    forget_id(rank, 0);
    nvshmem_free(word);
    return finish_host();
}
