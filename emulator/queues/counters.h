/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion counters of queue pairs: what they count, as the verbs number it. */
#ifndef EMU_COUNTERS_H
#define EMU_COUNTERS_H

#include "emulator/fabric/shared.h"
#include "emulator/verbs/status.h"

/* The device's counters have 31 bits. */
#define EMU_COUNTER_MASK 0x7fffffffull

/* Bit numbers of the verbs' masks. */
enum {
    EMU_COUNT_SEND,
    EMU_COUNT_RECEIVE,
    EMU_COUNT_READ,
    EMU_COUNT_WAS_READ,
    EMU_COUNT_WRITE,
    EMU_COUNT_WRITTEN
};

/* Of which a queue pair keeps the totals in its process's region, whoever's thread does the operation. */
static inline void emu_count_add(struct emu_shared_qp *qp, unsigned what, uint32_t len,
                                 enum emu_status status)
{
    if (status) {
        atomic_fetch_add_explicit(&qp->failed[what], 1, memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&qp->bytes[what], len, memory_order_relaxed);
    /* release: pairs with the acquire of counters.c; who sees the count sees the data */
    atomic_fetch_add_explicit(&qp->done[what], 1, memory_order_release);
}

#endif
