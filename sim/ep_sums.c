/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of adding rows of expert parallelism, which are no copies: the linker takes these in place of ep/'s. */
#include "ep/host/run.h"
#include "sim/sim.h"

static void sum_spend(const struct ep_run *run, int columns, int n, ep_term_fn *term, const void *arg)
{
    for (int k = 0; k < n && sim.set.sum > 0; k++)
        if (term(run, arg, k).row)
            sim.debt += (sim_time)((double)columns * sizeof(uint16_t) * sim.set.sum * 1000);
}

void __real_ep_sum(const struct ep_run *run, void *out, int piece, int pieces, int n, ep_term_fn *term,
                   const void *arg);
void __wrap_ep_sum(const struct ep_run *run, void *out, int piece, int pieces, int n, ep_term_fn *term,
                   const void *arg);

void __wrap_ep_sum(const struct ep_run *run, void *out, int piece, int pieces, int n, ep_term_fn *term,
                   const void *arg)
{
    sum_spend(run, run->shape.hidden / pieces, n, term, arg);
    __real_ep_sum(run, out, piece, pieces, n, term, arg);
}
