/* SPDX-License-Identifier: BSD-3-Clause */
/* The service thread of a process. */
#include "emulator/fabric/service.h"

#include "emulator/fabric/copy.h"
#include "emulator/fabric/futex.h"
#include "emulator/verbs/objects.h"

#define IDLE_NS 1000000000ull

static void packet_serve(struct emu_packet *packet)
{
    /* acquire: pairs with the release of copy.c's carry(), for the packet's contents */
    uint32_t state = atomic_load_explicit(&packet->state, memory_order_acquire);

    if (state != EMU_PACKET_WRITE && state != EMU_PACKET_READ)
        return;
    packet->result =
        emu_copy_local(packet->addr, packet->data, packet->len, packet->gpu, state == EMU_PACKET_WRITE);
    /* release: pairs with carry()'s acquire, for the result and what was read */
    atomic_store_explicit(&packet->state, EMU_PACKET_DONE, memory_order_release);
    emu_futex_wake(&packet->state);
}

void *emu_service(void *unused)
{
    struct emu_region *mine = emu.mine;

    (void)unused;
    pthread_setname_np(pthread_self(), "efa-emu-service");
    for (;;) {
        /* acquire: pairs with the release of emu_region_wake */
        uint32_t wakeup = atomic_load_explicit(&mine->wakeup, memory_order_acquire);

        packet_serve(&mine->packet);
        emu_cq_deliver_events();
        emu_futex_wait(&mine->wakeup, wakeup, IDLE_NS);
    }
    return NULL;
}
