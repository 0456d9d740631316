/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts one int to the last PE, after noting where it will land here; for call_stack.sh. */
#include "test/common/mp.h"

volatile int *landing; /* where the store goes, if this PE can reach it with stores */
int value = 4711;

int main(void)
{
    int *slot;

    mp_begin();
    slot = mp_alloc(2 * sizeof *slot);
    landing = shmem_ptr(slot, mp_npes - 1);
    shmem_int_put(slot + 1, &value, 1, mp_npes - 1); /* symbols are bound, connections made */
    shmem_barrier_all();
    if (mp_me == 0)
        shmem_int_put(slot, &value, 1, mp_npes - 1);
    shmem_barrier_all();
    if (mp_me == mp_npes - 1)
        mp_check(*slot == 4711, "the put did not arrive");
    return mp_end();
}
