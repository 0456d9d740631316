/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run with few hosts in full. The others stand in a circle or a torus of hosts, in which the algorithm is the same
 * seen from each of them: what a PE in full sends to a PE d hosts further, the PE d hosts before it sends to that PE's
 * place on the sender's host, at the same time. So each packet to a host that is not in full comes back as the packet
 * that the sender's host gets of its like: a sink and a source in one, with the rates and counts of the algorithm.
 */
#ifndef PERF_SIM_MIRROR_H
#define PERF_SIM_MIRROR_H

#include "sim/sim.h"

struct sim_call;

/* Data of an operation that comes back: what `giver` has sent to `target` is what `source` sends to `sink`. */
struct sim_reflection {
    const struct sim_call *call;
    uint64_t round;
    const struct sim_pe *giver, *target, *source;
    struct sim_pe *sink;
};

/* What a call says of what comes back: data and words are at `off` of the target. */
struct sim_reflect {
    void (*data)(const struct sim_reflection *reflection, size_t off, const char *from, size_t len);
    size_t (*word)(const struct sim_reflection *reflection,
                   size_t off); /* in the sink; NULL: the sync area's alone */
};

/* Chooses sim.set.full hosts; all where that is 0. Ends the program where the call has no such run. */
void sim_mirror_open(const struct sim_call *call);
/* Of a packet to a host that is not in full, before it leaves. */
void sim_mirror_packet(struct sim_packet *packet);
/* Bytes [at, at + len) of an operation whose packet came back arrive. */
void sim_mirror_land(const struct sim_op *op, size_t at, size_t len);
/* What PE `pe` of the target's view is in the sink's. */
int sim_mirror_pe(const struct sim_reflection *reflection, int pe);
/* The same of a block in the first step of an alltoall by rows and columns: [across][down] blocks. */
int sim_mirror_block(const struct sim_reflection *reflection, int block);

static inline bool sim_in_full(const struct sim_pe *pe)
{
    return sim.host[pe->host].full;
}

#endif
