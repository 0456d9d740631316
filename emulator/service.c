/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the service thread of a process. */
#include "emulator/service.h"

#include "emulator/copy.h"
#include "emulator/futex.h"
#include "emulator/objects.h"

#define IDLE_NS 1000000000ull

static void serve_parcel(struct emu_parcel *parcel)
{
    /* acquire: pairs with the release of copy.c's carry(), for the parcel's contents */
    uint32_t state = atomic_load_explicit(&parcel->state, memory_order_acquire);

    if (state != EMU_PARCEL_WRITE && state != EMU_PARCEL_READ)
        return;
    parcel->result =
        emu_copy_local(parcel->addr, parcel->data, parcel->len, parcel->gpu, state == EMU_PARCEL_WRITE);
    /* release: pairs with carry()'s acquire, for the result and what was read */
    atomic_store_explicit(&parcel->state, EMU_PARCEL_DONE, memory_order_release);
    emu_futex_wake(&parcel->state);
}

void *emu_service(void *unused)
{
    struct emu_region *mine = emu.mine;

    (void)unused;
    pthread_setname_np(pthread_self(), "efa-emu-service");
    for (;;) {
        /* acquire: pairs with the release of emu_region_ring_bell */
        uint32_t bell = atomic_load_explicit(&mine->bell, memory_order_acquire);

        serve_parcel(&mine->parcel);
        emu_cq_deliver_events();
        emu_futex_wait(&mine->bell, bell, IDLE_NS);
    }
    return NULL;
}
