/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call moves, from the choices of all PEs. */
#include "perftest/ep/moe.h"

#include <stdlib.h>

bool moe_one_copy(const struct moe_run *run)
{
    if (run->near == run->npes)
        return false;
    if (run->options->route != SHMEMX_EP_AUTO)
        return run->options->route == SHMEMX_EP_ONE_COPY;
    return run->near > 1;
}

/* Whether choice k names a PE, or where `host` its host, that no earlier choice of the token has named. */
static bool is_first(const struct ref_job *job, const int32_t *topk, int k, bool host)
{
    int pe = ref_pe_of(job, topk[k]);

    if (pe < 0)
        return false;
    for (int earlier = 0; earlier < k; earlier++) {
        int other = ref_pe_of(job, topk[earlier]);
        if (other == pe || (host && other >= 0 && ref_host_of(job, other) == ref_host_of(job, pe)))
            return false;
    }
    return true;
}

/* Whether a combine brings one row back from each PE, or one from each expert. */
static bool once_a_pe(const struct moe_run *run)
{
    return run->mode == REF_HIGH_THROUGHPUT;
}

/* The link to a PE; NULL: it is on another host. */
static struct moe_link *link_to(struct moe_run *run, int pe)
{
    if (ref_host_of(&run->job, pe) != ref_host_of(&run->job, run->me))
        return NULL;
    return &run->links[(pe - run->me + run->near) % run->near];
}

/* What choice k of a token of this PE adds. */
static void count_choice(struct moe_run *run, const int32_t *topk, int k, double *pes)
{
    bool first = is_first(&run->job, topk, k, false);
    struct moe_link *link;

    if (topk[k] < 0)
        return;
    run->load.choices++;
    *pes += first;
    run->load.hosts += is_first(&run->job, topk, k, true);
    link = link_to(run, ref_pe_of(&run->job, topk[k]));
    if (link)
        link->back += once_a_pe(run) ? first : 1;
}

static void count_own(struct moe_run *run)
{
    struct moe_load *load = &run->load;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];
    double pes = 0;

    for (int token = 0; token < ref_tokens(&run->job, run->me); token++) {
        ref_choose(&run->job, run->me, token, topk, weights);
        for (int k = 0; k < run->job.topk; k++)
            count_choice(run, topk, k, &pes);
    }
    load->back = run->mode == REF_LOW_LATENCY ? load->choices : pes;
}

/* What a token of `pe` sends here. */
static void count_here(struct moe_run *run, int pe, int token)
{
    struct moe_link *link = link_to(run, pe);
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    ref_choose(&run->job, pe, token, topk, weights);
    for (int k = 0; k < run->job.topk; k++) {
        bool first = is_first(&run->job, topk, k, false);
        if (ref_pe_of(&run->job, topk[k]) != run->me)
            continue;
        run->load.received += run->mode == REF_LOW_LATENCY || first;
        if (link)
            link->rows += first;
    }
}

void moe_load_count(struct moe_run *run)
{
    struct moe_load *load = &run->load;

    *load = (struct moe_load){0};
    run->links = calloc((size_t)run->near, sizeof *run->links);
    if (!run->links) {
        perf_complain("no memory for %d links", run->near);
        shmem_global_exit(PERF_FAILED);
    }
    count_own(run);
    load->network = (double)ref_network_rows(&run->job, run->me, run->route);
    for (int pe = 0; pe < run->npes; pe++)
        for (int token = 0; token < ref_tokens(&run->job, pe); token++)
            count_here(run, pe, token);
    load->dispatched = load->received * (double)run->row_bytes;
    load->combined = load->back * (double)run->job.hidden * 2;
}
