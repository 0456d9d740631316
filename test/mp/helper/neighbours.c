/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts with signal around the ring of all PEs, and no traffic else but that of start and end. For first_use.sh. */
#include "test/common/mp.h"

int main(void)
{
    static uint64_t signal, data;

    mp_begin();
    for (uint64_t round = 1; round <= 10; round++) {
        uint64_t value = round << 32 | (uint64_t)mp_me;

        shmem_putmem_signal(&data, &value, sizeof value, &signal, 1, SHMEM_SIGNAL_ADD, mp_right());
        shmem_signal_wait_until(&signal, SHMEM_CMP_GE, round);
        mp_check((data & 0xffffffff) == (uint64_t)mp_left(), "wrong data");
    }
    return mp_end();
}
