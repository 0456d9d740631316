/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets of every type by one thread: what is put to the right comes back by a get. Those that do not wait of
 * every type, those that wait of some.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

#define KERNEL(KIND, NAME, TYPE, PUT, GET)                                                       \
    __global__ void KIND##_##NAME(TYPE *box, TYPE *mine, int peer)                               \
    {                                                                                            \
        for (int i = 0; i < 8; i++)                                                              \
            mine[i] = (TYPE)(10 * nvshmem_my_pe() + i);                                          \
        nvshmem_##NAME##_##PUT(box, mine, 8, peer);                                              \
        nvshmem_quiet();                                                                         \
        nvshmem_##NAME##_##GET(mine + 8, box, 8, peer);                                          \
        nvshmem_quiet();                                                                         \
    }
#define SOME_TYPES(X) X(float, float) X(double, double) X(char, char) X(short, short) X(size, size_t)
#define KERNEL_NBI(NAME, TYPE) KERNEL(nbi, NAME, TYPE, put_nbi, get)
#define KERNEL_WAITING(NAME, TYPE) KERNEL(waiting, NAME, TYPE, put, get_nbi)
RMA_TYPES(KERNEL_NBI)
SOME_TYPES(KERNEL_WAITING)

template <class T>
static void try_kernel(void (*kernel)(T *, T *, int), char *box, char *mine)
{
    T got[16];

    RUN(kernel<<<1, 1, 0, stream>>>((T *)box, (T *)mine, right));
    nvshmem_barrier_all();
    to_host(got, (T *)mine, 16);
    for (int i = 0; i < 8; i++)
        CHECK(got[8 + i] == (T)(10 * me + i));
    to_host(got, (T *)box, 8);
    for (int i = 0; i < 8; i++)
        CHECK(got[i] == (T)(10 * left + i));
    nvshmem_barrier_all();
}

int main(void)
{
    begin();
    char *box = symmetric<char>(1024), *mine = symmetric<char>(1024);

#define TRY_NBI(NAME, TYPE) try_kernel(nbi_##NAME, box, mine);
#define TRY_WAITING(NAME, TYPE) try_kernel(waiting_##NAME, box, mine);
    RMA_TYPES(TRY_NBI)
    SOME_TYPES(TRY_WAITING)
    nvshmem_free(mine);
    nvshmem_free(box);
    return finish();
}
