/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on a CPU: copies to several places, and sums. */
#include "ep/host/run.h"

enum { COLUMNS = 256 }; /* that are summed at a time */

void ep_scatter(const struct ep_run *run, const void *from, size_t bytes, int n, ep_to_fn *to,
                const void *arg)
{
    for (int k = 0; k < n; k++) {
        void *dest = to(run, arg, k);

        if (dest)
            memcpy(dest, from, bytes);
    }
}

static void sum_columns(const struct ep_term *terms, int n, int first, int columns, uint16_t *out)
{
    float sum[COLUMNS] = {0.0f};

    for (int k = 0; k < n; k++)
        if (terms[k].row)
            wsh_ep_add_weighted(sum, terms[k].weight, (const uint16_t *)terms[k].row + first, columns);
    wsh_ep_round_row(sum, columns, out + first);
}

void ep_sum(const struct ep_run *run, void *out, int piece, int pieces, int n, ep_term_fn *term,
            const void *arg)
{
    struct ep_term terms[EP_TOPK_MAX];
    int hidden = run->shape.hidden;

    (void)piece;
    (void)pieces;
    for (int k = 0; k < n; k++)
        terms[k] = term(run, arg, k);
    for (int first = 0; first < hidden; first += COLUMNS)
        sum_columns(terms, n, first, hidden - first < COLUMNS ? hidden - first : COLUMNS, (uint16_t *)out);
}
