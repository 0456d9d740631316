/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on a CPU: copies to several addresses, and sums. */
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

static int least(int a, int b)
{
    return a < b ? a : b;
}

void ep_low_add(const struct ep_run *run, void *out, int first, int columns, int n, ep_term_fn *term,
                const void *arg)
{
    struct ep_term terms[EP_TOPK_MAX];
    int end = first + columns;

    for (int k = 0; k < n; k++)
        terms[k] = term(run, arg, k);
    for (; first < end; first += COLUMNS)
        sum_columns(terms, n, first, end - first < COLUMNS ? end - first : COLUMNS, (uint16_t *)out);
}

void ep_sum(const struct ep_run *run, void *out, int piece, int pieces, int n, ep_term_fn *term,
            const void *arg)
{
    (void)piece;
    (void)pieces;
    ep_low_add(run, out, 0, run->shape.hidden, n, term, arg);
}

/* Rows of a group, rounded, are added to the sum of those before. */
static void add_group(const struct ep_term *terms, const int *groups, int n, int group, int first,
                      int columns, float *total)
{
    float sum[COLUMNS];
    uint16_t row[COLUMNS];
    int any = 0;

    for (int k = 0; k < n; k++) {
        if (!terms[k].row || groups[k] != group)
            continue;
        if (!any++)
            memset(sum, 0, sizeof sum);
        wsh_ep_add_weighted(sum, terms[k].weight, (const uint16_t *)terms[k].row + first, columns);
    }
    if (!any)
        return;
    wsh_ep_round_row(sum, columns, row);
    wsh_ep_add_row(total, row, columns);
}

void ep_sum_grouped(const struct ep_run *run, void *out, int first, int columns, int n, ep_term_fn *term,
                    ep_group_fn *group, const void *arg)
{
    struct ep_term terms[EP_TOPK_MAX];
    int groups[EP_TOPK_MAX], end = first + columns;

    for (int k = 0; k < n; k++) {
        terms[k] = term(run, arg, k);
        groups[k] = group(run, arg, k);
    }
    for (; first < end; first += COLUMNS) {
        float total[COLUMNS] = {0.0f};

        for (int pe = 0; pe < run->shape.n; pe++)
            add_group(terms, groups, n, pe, first, least(end - first, COLUMNS), total);
        wsh_ep_round_row(total, least(end - first, COLUMNS), (uint16_t *)out + first);
    }
}

/* One row, which is then copied: quantizing it takes longer than that. */
void ep_quantize_to_each(const struct ep_run *run, const uint16_t *x, int columns, int n, ep_to_fn *to,
                         const void *arg, ptrdiff_t scales)
{
    const char *made = NULL;

    for (int k = 0; k < n; k++) {
        char *dest = to(run, arg, k);

        if (!dest)
            continue;
        if (made) {
            memcpy(dest, made, (size_t)columns);
            memcpy(dest + scales, made + scales, (size_t)columns / EP_GROUP * sizeof(float));
        } else {
            ep_quantize(dest, (float *)(dest + scales), x, columns, run->shape.dtype);
            made = dest;
        }
    }
}

void ep_copy_to_each(const struct ep_run *run, const void *from, int bytes, const float *scales, int n_scales,
                     int n, ep_to_fn *to, ep_to_fn *scales_to, const void *arg)
{
    ep_scatter(run, from, (size_t)bytes, n, to, arg);
    if (scales)
        ep_scatter(run, scales, (size_t)n_scales * sizeof *scales, n, scales_to, arg);
}
