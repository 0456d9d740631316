/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs that PEs run: collectives on data that each call makes and checks. */
#ifndef PERF_SIM_PROGRAM_H
#define PERF_SIM_PROGRAM_H

#include "sim/mirror.h"

#define SIM_CALLS 16 /* words of a program */

/* A call of all PEs, and when they entered and left it. */
struct sim_call {
    const struct sim_work *work;
    size_t src, dest; /* offsets in the heap */
    size_t len;
    uint64_t entered, left; /* PEs */
    sim_time last_in;
    double *us;             /* [rounds] of the slowest PE, from the time at which all are in */
    struct sim_tally given; /* in all calls, by the PEs in full */
};

struct sim_work {
    const char *name;
    /* Bytes of src and dest for so many PEs. */
    size_t (*src_len)(size_t len, size_t n), (*dest_len)(size_t len, size_t n);
    int (*run)(struct sim_pe *pe, const struct sim_call *call, uint64_t round);
    /* Of one that keeps something, one in a job: symmetric memory for it, what is done before and after the rounds. */
    size_t (*bytes)(const struct sim_options *set);
    int (*begin)(struct sim_pe *pe);
    /* What comes before the call, which all PEs enter behind a sync. */
    int (*prepare)(struct sim_pe *pe, uint64_t round);
    void (*end)(struct sim_pe *pe);
    const struct sim_reflect *reflect; /* of one that may run with few hosts in full */
};

extern const struct sim_work sim_gpu_whole, sim_gpu_slices;                      /* gpu_reduce.c */
extern const struct sim_work sim_decode, sim_prefill, sim_dispatch, sim_combine; /* ep.c */
extern const struct sim_reflect sim_ep_reflect;                                  /* ep_mirror.c */
extern const struct sim_work sim_bruck;                                          /* bruck.c */
extern const struct sim_work sim_requests, sim_exchanges;                        /* requests.c */

/* A block for each PE at src; what each PE had for this one, at dest: 0 or -EPROTO (printed). */
void sim_work_fill_each(struct sim_pe *pe, const struct sim_call *call, uint64_t round);
int sim_work_check_each(struct sim_pe *pe, const struct sim_call *call, uint64_t round);

/* The words of set.program to calls; their memory. NULL on success, or the word that there is not. */
const char *sim_program_read(const struct sim_options *set, struct sim_call calls[SIM_CALLS], int *n,
                             size_t *data_len);
/* More than one keeps something, where there is room for that of one. */
bool sim_program_keeps_twice(const struct sim_call *calls, int n);
void sim_program_names(void);

/* Runs them, `rounds` times in turn, in the world that is open. 0 or -EPROTO (printed). */
int sim_program_run(struct sim_call *calls, int n);

extern const struct sim_work *const sim_works[];

/* What PE `from` gives to PE `to` in a round: word i. */
static inline uint64_t sim_word(uint64_t round, int from, int to, size_t i)
{
    uint64_t x = round * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)from * UINT64_C(0xbf58476d1ce4e5b9) +
                 (uint64_t)to * UINT64_C(0x94d049bb133111eb) + i;

    return x ^ x >> 29;
}

#endif
