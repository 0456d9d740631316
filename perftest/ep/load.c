/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call moves, from the choices of all PEs. */
#include "perftest/ep/moe.h"

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

static void count_own(struct moe_run *run)
{
    struct moe_load *load = &run->load;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];
    double pes = 0;

    for (int token = 0; token < ref_tokens(&run->job, run->me); token++) {
        ref_choose(&run->job, run->me, token, topk, weights);
        for (int k = 0; k < run->job.topk; k++) {
            load->choices += topk[k] >= 0;
            pes += is_first(&run->job, topk, k, false);
            load->hosts += is_first(&run->job, topk, k, true);
        }
    }
    load->back = run->mode == REF_LOW_LATENCY ? load->choices : pes;
}

void moe_load_count(struct moe_run *run)
{
    struct moe_load *load = &run->load;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    *load = (struct moe_load){0};
    count_own(run);
    load->network = (double)ref_network_rows(&run->job, run->me, run->route);
    for (int pe = 0; pe < run->npes; pe++) {
        for (int token = 0; token < ref_tokens(&run->job, pe); token++) {
            ref_choose(&run->job, pe, token, topk, weights);
            for (int k = 0; k < run->job.topk; k++)
                load->received += ref_pe_of(&run->job, topk[k]) == run->me &&
                                  (run->mode == REF_LOW_LATENCY || is_first(&run->job, topk, k, false));
        }
    }
    load->dispatched = load->received * (double)run->row_bytes;
    load->combined = load->back * (double)run->job.hidden * 2;
}
