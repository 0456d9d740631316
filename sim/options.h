/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run simulates: the machine, its costs, the limits of the flow control, and the program. */
#ifndef PERF_SIM_OPTIONS_H
#define PERF_SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_mutant { SIM_NO_MUTANT, SIM_LOST, SIM_EARLY, SIM_WINDOW, SIM_MUTANTS };

/* X(field, "option", default, "help"). Times are nanoseconds. */
#define SIM_COSTS(X)                                                                               \
    X(latency, "latency", 6000, "of the network, one way, without the CPUs at both ends")          \
    X(jitter, "jitter", 1500, "longest delay more, by which what leaves later may arrive earlier") \
    X(send, "send", 150, "CPU time of giving an operation to a NIC")                               \
    X(receive, "receive", 250, "CPU time of a message that has arrived")                           \
    X(complete, "complete", 60, "CPU time of a completion")                                        \
    X(gap, "gap", 150, "least time between two messages of a NIC")                                 \
    X(byte, "byte", 0.08, "of a byte on a NIC: 0.08 are 100 Gb/s")                                 \
    X(shared, "shared", 195, "until a store is seen by another PE of the host")                    \
    X(look, "look", 27, "CPU time of reading a line that another PE has written")                  \
    X(store, "store", 20, "CPU time of an operation on memory of the same host")                   \
    X(copy, "copy", 0.1, "CPU time of copying a byte")                                             \
    X(sum, "sum", 0, "CPU time of adding a byte of a row of expert parallelism to others")         \
    X(call, "call", 0, "CPU time of a call of expert parallelism beside its rows and the network") \
    X(hand, "hand", 0, "until an operation is at the NIC, beside the CPU time: a kernel's")        \
    X(show, "show", 0, "until a count that a CPU keeps is seen by who waits: a kernel")            \
    X(refuse, "rnr", 10000, "until a message for which no receive was posted comes again")         \
    X(turn, "turn", 2000, "CPU time of a change between PEs that share a core")

struct sim_options {
    int pes, per_host, nics;
    int full;                /* hosts; the others are mirrored; 0: all */
    int tokens, hidden, fp8; /* of expert parallelism */
    int nic_counts;          /* NICs count counted puts; 0: a CPU of the target does */
    int threads;             /* of progress, one a PE: requests alone know them */
    int sockets;             /* choose algorithms as over sockets */
    int cores;               /* of a machine on which all hosts are emulated; 0: every PE has its own */
    uint64_t seed, seeds;
    size_t len; /* bytes of a collective, of one PE */
    int rounds;
    const char *program; /* words with commas between */
    const char
        *algo;   /* another algorithm than choice.c has, for the routine of that name; NULL: as that says */
    double skew; /* ns: PEs begin a round that much apart at most */
    uint32_t window, ops, receives; /* 0: as the library sets them */
    enum sim_mutant mutant;
    bool json;
    size_t stack;
#define SIM_FIELD(field, option, def, help) double field;
    SIM_COSTS(SIM_FIELD)
#undef SIM_FIELD
};

/* Status to end with, or -1: go on. */
int sim_options_read(struct sim_options *set, int argc, char **argv);
void sim_options_default(struct sim_options *set);

#endif
