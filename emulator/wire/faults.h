/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fault script: what goes wrong, on which link, when. Pure functions, without I/O.
 *
 * A script is a list of statements, separated by `;` or newlines; `#` starts a comment. A statement is
 *     [at T | during T..T] [from P[.N]] [to P[.N]] ACTION
 * T is a number with s, ms or us, counted from the fabric's creation (in replay mode one event is one us); P is a
 * rank or *, N the index of a NIC of that process. Later statements win over earlier ones. Actions:
 *     seed N              seed of the random numbers, for the whole job
 *     reorder T           window of the random due times
 *     drop P% [late T]    a segment is lost and comes T later (default 1 ms), as often as it is lost
 *     duplicate P%        the payload of an RDMA write's segment is delivered twice, before its completion
 *     duplicate P% late T the same, the second time as it was posted, T later: maybe after the target's completion
 *     stall [T every T]   nothing lands while the statement holds, or for the first T of every period
 *     down, up            the link is down: after the time-out its operations fail
 *     remove              the NIC named by `from P.N` is gone: its operations are flushed, its peers time out
 *     timeout T           how long a peer may stay silent (default 250 ms)
 *     rnr T               pause before the next try at a receiver without receives (default 100 us)
 *     fail CODE P%        an operation ends with this status
 *     full P%             a doorbell finds the send queue full
 */
#ifndef EMU_FAULTS_H
#define EMU_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_RULES_MAX 128
#define EMU_ANY (-1)

enum emu_action {
    EMU_SEED,
    EMU_REORDER,
    EMU_DROP,
    EMU_DUPLICATE,
    EMU_STALL,
    EMU_DOWN,
    EMU_UP,
    EMU_REMOVE,
    EMU_TIMEOUT,
    EMU_RNR,
    EMU_FAIL,
    EMU_FULL,
};

/* One end of a link: rank and NIC index, or EMU_ANY. */
struct emu_end {
    int rank, nic;
};

struct emu_rule {
    uint64_t from_ns, until_ns;
    struct emu_end src, dst;
    enum emu_action action;
    uint64_t value, extra; /* ns, ppm or a number */
};

struct emu_faults {
    bool seeded;
    uint64_t seed;
    unsigned nrules;
    struct emu_rule rule[EMU_RULES_MAX];
};

/* How a link is at one time. */
struct emu_link {
    uint64_t reorder_ns, late_ns, timeout_ns, rnr_ns;
    uint64_t again_ns;         /* how late duplicates are; 0: before the target's completion */
    uint64_t stalled_until_ns; /* 0: not stalled */
    uint32_t drop_ppm, duplicate_ppm, fail_ppm, full_ppm;
    unsigned fail_status;
    bool down, removed;
};

/* Returns 0, or -EINVAL with what is wrong and where in `why`. */
int emu_faults_parse(const char *text, struct emu_faults *faults, char *why, size_t size);

/* The link from src to dst at `now` (ns since the fabric's creation), with `reorder_ns` where no statement says. */
void emu_faults_link(const struct emu_faults *faults, uint64_t now, struct emu_end src, struct emu_end dst,
                     uint64_t reorder_ns, struct emu_link *link);

/* Is this NIC removed at `now`? */
bool emu_faults_removed(const struct emu_faults *faults, uint64_t now, struct emu_end nic);

#endif
