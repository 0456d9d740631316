/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time model: computes when a segment lands from the NIC's bandwidth, the latency and the cost of a message. At a
 * scale of 1/40 all times are 40 times the machine's, so that their ratios stay true. Pure functions.
 */
#ifndef EMU_RATE_H
#define EMU_RATE_H

#include "emulator/wire/profile.h"

struct emu_rate {
    double ns_per_byte; /* 0: no model; a segment takes the latency alone */
    uint64_t message_ns, latency_ns;
};

/* `scale` <= 0: no model. */
void emu_rate_init(struct emu_rate *rate, const struct emu_profile *profile, double scale);
/*
 * When a segment of `len` bytes that is posted at `now` has left a NIC that is busy until *busy; `first`: it is the
 * first of its message. Moves *busy.
 */
uint64_t emu_rate_depart(const struct emu_rate *rate, uint64_t now, uint32_t len, bool first, uint64_t *busy);
/*
 * When a segment that left at `departed` has been taken in by a NIC whose receiving side is busy until `busy`:
 * two senders share it.
 */
uint64_t emu_rate_arrive(const struct emu_rate *rate, uint64_t departed, uint32_t len, uint64_t busy);

/* "1/40", "0.1"; "1" means the default of 1/40, "1/1" unscaled. Returns -EINVAL for anything else, and for 0. */
int emu_rate_parse(const char *text, double *scale);

#endif
