/* SPDX-License-Identifier: BSD-3-Clause */
/* Places, rows of images and counts, in one pass over the tokens. */
#include "ep/steps/call.h"

/* What has been counted before a token. */
struct ranks {
    const struct ep_run *run;
    int32_t *counts; /* [n][counted] */
    int32_t *rows;   /* [far][parts] */
    int parts;
};

static int same_pe(const struct ep_shape *shape, int a, int b)
{
    return a >= 0 && ep_expert_pe(shape, a) == ep_expert_pe(shape, b);
}

static int same_far(const struct ep_shape *shape, int a, int b)
{
    return a >= 0 && !ep_pe_is_near(shape, ep_expert_pe(shape, a)) &&
           ep_far_of(shape, ep_expert_pe(shape, a)) == ep_far_of(shape, ep_expert_pe(shape, b));
}

/* The first entry before k that `same` holds for; k itself where there is none. */
static int first_like(const struct ep_shape *shape, const struct ep_meta *meta, int k,
                      int (*same)(const struct ep_shape *, int, int))
{
    for (int j = 0; j < k; j++)
        if (same(shape, meta->entry[j].expert, meta->entry[k].expert))
            return j;
    return k;
}

static int offset_of(const struct ranks *ranks, const struct ep_meta *meta, int k)
{
    const struct ep_shape *shape = &ranks->run->shape;
    int expert = meta->entry[k].expert, first;
    int32_t *counts = ranks->counts + (size_t)ep_expert_pe(shape, expert) * shape->counted;

    counts[1 + expert % shape->mine]++;
    first = first_like(shape, meta, k, same_pe);
    return first < k ? meta->entry[first].offset : counts[0]++;
}

static int row_of(const struct ranks *ranks, const struct ep_meta *meta, int k, int token)
{
    const struct ep_shape *shape = &ranks->run->shape;
    int expert = meta->entry[k].expert, pe = ep_expert_pe(shape, expert), first;

    if (shape->pulls) /* of the expert's rows, how many come before: offset_of has counted this one */
        return ranks->counts[(size_t)pe * shape->counted + 1 + expert % shape->mine] - 1;
    if (ep_pe_is_near(shape, pe))
        return token;
    first = first_like(shape, meta, k, same_far);
    return first < k ? meta->entry[first].row
                     : ranks->rows[ep_far_of(shape, pe) * ranks->parts + token / shape->window]++;
}

/* Experts stand in the metas. */
void ep_rank(const struct ep_run *run, const int32_t *topk, int tokens, void *metas, int32_t *counts,
             int32_t *rows)
{
    const struct ep_shape *shape = &run->shape;
    struct ranks ranks = {run, counts, rows, ep_parts(shape, tokens)};

    (void)topk;
    memset(counts, 0, (size_t)shape->n * shape->counted * sizeof *counts);
    memset(rows, 0, (size_t)shape->far * ranks.parts * sizeof *rows);
    for (int token = 0; token < tokens; token++) {
        struct ep_meta *meta = ep_meta_at(run, metas, token);

        for (int k = 0; k < shape->topk; k++)
            if (meta->entry[k].expert >= 0) {
                meta->entry[k].offset = offset_of(&ranks, meta, k);
                meta->entry[k].row = row_of(&ranks, meta, k, token);
            }
    }
}
