/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host code that g++ compiles: puts, gets and words of device memory, strided, without waiting and with signals.
 * paths: fakegpu:2,4 gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

int main()
{
    begin_host();
    enum { COUNT = 100 };
    int *box = symmetric<int>(4 * COUNT), out[COUNT], in[COUNT], mine = 500 + me;
    double *reals = symmetric<double>(COUNT), real[COUNT];
    uint64_t *flags = symmetric<uint64_t>(2);

    for (int i = 0; i < COUNT; i++) {
        out[i] = 1000 * me + i;
        real[i] = me + i / 8.0;
    }
    nvshmem_barrier_all();
    nvshmem_int_put(box, out, COUNT, right);
    nvshmem_putmem_nbi(box + COUNT, out, sizeof out, right);
    nvshmem_int_iput(box + 2 * COUNT, out, 2, 1, 50, right);
    nvshmem_int_p(box + 3 * COUNT, mine, right);
    nvshmem_double_put(reals, real, COUNT, right);
    nvshmem_fence();
    nvshmem_int_put_signal(box + 3 * COUNT + 1, out, 4, flags, 3, NVSHMEM_SIGNAL_SET, right);
    nvshmemx_signal_op(flags + 1, 4, NVSHMEM_SIGNAL_ADD, right);
    nvshmem_quiet();
    nvshmem_barrier_all();
    CHECK(nvshmem_signal_fetch(flags) == 3 && nvshmem_signal_fetch(flags + 1) == 4);
    nvshmem_int_get(in, box, COUNT, me);
    CHECK(in[0] == 1000 * left && in[COUNT - 1] == 1000 * left + COUNT - 1);
    nvshmem_getmem_nbi(in, box + COUNT, sizeof in, right);
    nvshmem_quiet();
    CHECK(in[7] == 1000 * me + 7);
    nvshmem_int_iget(in, box + 2 * COUNT, 1, 2, 50, right);
    CHECK(in[49] == 1000 * me + 49);
    CHECK(nvshmem_int_g(box + 3 * COUNT, right) == 500 + me);
    CHECK(nvshmem_int_g(box + 3 * COUNT + 4, me) == 1000 * left + 3);
    nvshmem_get64(real, reals, COUNT, me);
    CHECK(real[40] == left + 5.0);
    nvshmem_barrier_all();
    nvshmem_free(flags);
    nvshmem_free(reals);
    nvshmem_free(box);
    return finish_host();
}
