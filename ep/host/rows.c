/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on a CPU: copies to several addresses, and sums. */
#include "ep/host/run.h"

#include "ep/host/columns.h"
#include "ep/nvfp4.h"

void ep_scatter(const struct ep_run *run, const void *from, size_t bytes, int n, ep_to_fn *to,
                const void *arg)
{
    for (int k = 0; k < n; k++) {
        void *dest = to(run, arg, k);

        if (dest)
            memcpy(dest, from, bytes);
    }
}

void ep_quantize(void *to, float *scales, const void *x, int hidden, int dtype)
{
    enum wsh_ep_scale kind = dtype == SHMEMX_EP_FP8_UE8M0 ? WSH_EP_SCALE_POWER2 : WSH_EP_SCALE_FLOAT;

    ep_quantize_row((const uint16_t *)x, hidden, kind, (uint8_t *)to, scales);
}

/* Columns are a multiple of WSH_EP_BLOCK, and so of EP_COLUMNS. */
void ep_low_add(const struct ep_run *run, void *out, int first, int columns, int n, ep_term_fn *term,
                const void *arg)
{
    struct ep_term terms[EP_TOPK_MAX];
    int end = first + columns, rows = 0;

    for (int k = 0; k < n; k++) {
        terms[rows] = term(run, arg, k);
        rows += terms[rows].row != NULL;
    }
    for (; first < end; first += EP_COLUMNS) {
        struct ep_columns sums = {{{0}}, {{0}}};

        for (int k = 0; k < rows; k++)
            ep_columns_add(&sums, terms[k].weight, (const uint16_t *)terms[k].row + first);
        ep_columns_round(&sums, (uint16_t *)out + first);
    }
}

void ep_sum(const struct ep_run *run, void *out, int piece, int pieces, int n, ep_term_fn *term,
            const void *arg)
{
    (void)piece;
    (void)pieces;
    ep_low_add(run, out, 0, run->shape.hidden, n, term, arg);
}

/* Terms in the order of their groups, each group's in the order in which they are; returns how many rows there are. */
static int terms_by_group(const struct ep_run *run, int n, ep_term_fn *term, ep_group_fn *group,
                          const void *arg, struct ep_term *terms, int *groups)
{
    int rows = 0;

    for (int k = 0; k < n; k++) {
        struct ep_term one = term(run, arg, k);
        int of = group(run, arg, k), at = rows;

        if (!one.row)
            continue;
        for (; at > 0 && groups[at - 1] > of; at--) {
            terms[at] = terms[at - 1];
            groups[at] = groups[at - 1];
        }
        terms[at] = one;
        groups[at] = of;
        rows++;
    }
    return rows;
}

/* The rows of a group are added up and rounded, and then added to the sum of those before. */
void ep_sum_grouped(const struct ep_run *run, void *out, int first, int columns, int n, ep_term_fn *term,
                    ep_group_fn *group, const void *arg)
{
    struct ep_term terms[EP_TOPK_MAX];
    int groups[EP_TOPK_MAX], end = first + columns;
    int rows = terms_by_group(run, n, term, group, arg, terms, groups);

    for (; first < end; first += EP_COLUMNS) {
        struct ep_columns total = {{{0}}, {{0}}};

        for (int k = 0; k < rows;) {
            struct ep_columns sums = {{{0}}, {{0}}};
            int of = groups[k];

            for (; k < rows && groups[k] == of; k++)
                ep_columns_add(&sums, terms[k].weight, (const uint16_t *)terms[k].row + first);
            ep_columns_add_rounded(&total, &sums);
        }
        ep_columns_round(&total, (uint16_t *)out + first);
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

void ep_nvfp4_to_each(const struct ep_run *run, const uint16_t *x, int columns, float whole, int n,
                      ep_to_fn *to, const void *arg, ptrdiff_t scales)
{
    const char *made = NULL;

    for (int k = 0; k < n; k++) {
        char *dest = to(run, arg, k);

        if (!dest)
            continue;
        if (made) {
            memcpy(dest, made, (size_t)columns / 2);
            memcpy(dest + scales, made + scales, (size_t)columns / EP_NVFP4_GROUP);
        } else {
            wsh_ep_nvfp4_pack(x, columns, whole, (uint8_t *)dest, (uint8_t *)(dest + scales));
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

void ep_step_to_each(const struct ep_run *run, const float *scales, int first, int n, int packed,
                     int64_t step, int choices, ep_to_fn *to, const void *arg)
{
    for (int k = 0; k < choices; k++) {
        uint32_t *dest = to(run, arg, k);

        for (int i = first; dest && i < first + n; i++)
            dest[i * step] = wsh_ep_scale_word(scales, i, packed);
    }
}
