/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport between PEs of one process, for tests: every operation travels as a packet that its target
 * opens, in its own progress, after a random delay and in random order; its end travels back the same way. What
 * the seed decides can be replayed where the PEs take turns in one thread.
 */
#ifndef WSH_TEST_FAKE_TRANSPORT_H
#define WSH_TEST_FAKE_TRANSPORT_H

#include "transports/transport.h"

#define FAKE_PES 8

struct fake_settings {
    int n_pes; /* <= FAKE_PES */
    uint64_t seed;
    unsigned
        delay;    /* a packet is left lying in `delay` of delay + 1 looks at it; 0 with `ordered`: at once */
    bool ordered; /* packets between two PEs keep their order */
    size_t room;  /* packets that a PE may have under way; beyond: -EAGAIN */
};

/* Sets up the world that PEs opened from now on live in; the former one must be closed. */
void fake_reset(const struct fake_settings *settings);

/* Times that a packet was opened before an older one between the same PEs. */
unsigned long fake_reorderings(void);
/* Operations under way in the whole world. */
size_t fake_in_progress(void);

extern const struct wsh_tp_ops fake_tp_ops;

#endif
