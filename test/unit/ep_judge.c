/* SPDX-License-Identifier: BSD-3-Clause */
/* The judge of whole calls accepts what a dispatch and a combine of all PEs in one process give, and names each value
 * that is changed in it. */
#include "test/ep/reference/judge.h"

#include "test/ep/reference/rows.h"
#include "test/common/unit.h"

#include <stdlib.h>
#include <string.h>

enum {
    PES = 4,
    EXPERTS = 8,
    MINE = EXPERTS / PES,
    TOPK = 4,
    TOKENS = 11,
    HIDDEN = 256,
    CAPACITY = PES * TOKENS + 1
};
enum { SCALES = HIDDEN / WSH_EP_BLOCK, LINE = 200 };

/* One PE's arrays, with room for either mode. */
struct pe {
    uint16_t x[TOKENS][HIDDEN];
    uint8_t codes[TOKENS][HIDDEN];
    float scales[TOKENS][SCALES];
    int32_t topk[TOKENS][TOPK];
    float weights[TOKENS][TOPK];
    union {
        uint16_t values[MINE * CAPACITY][HIDDEN];
        uint8_t codes[MINE * CAPACITY][HIDDEN];
    } rows;
    float row_scales[MINE * CAPACITY][SCALES];
    int32_t counts[MINE], sources[MINE][PES][2], row_topk[CAPACITY][TOPK];
    float row_weights[CAPACITY][TOPK];
    uint16_t y[MINE * CAPACITY][HIDDEN];
    float y_weights[CAPACITY][TOPK];
    uint16_t out[TOKENS][HIDDEN];
    float out_weights[TOKENS][TOPK];
    int32_t row_of[PES][TOKENS][MINE]; /* where a source's token is in the part */
};

/* All PEs of a job. */
struct world {
    struct ref_job job;
    enum ref_mode mode;
    enum ref_route route;
    struct pe pe[PES];
};
static struct world world;
static char line[LINE];

static void fill(void)
{
    for (int pe = 0; pe < PES; pe++) {
        struct pe *to = &world.pe[pe];

        ref_fill_inputs(&world.job, pe, to->x[0], to->topk[0], to->weights[0]);
        if (world.job.dtype != REF_BF16)
            ref_fill_codes(&world.job, pe, to->codes[0], to->scales[0]);
    }
}

static void copy_row(struct pe *to, int part, int slot, const struct pe *from, int token)
{
    int row = part * CAPACITY + slot;

    memcpy(to->row_scales[row], from->scales[token], sizeof to->row_scales[row]);
    if (world.job.dtype == REF_BF16)
        memcpy(to->rows.values[row], from->x[token], sizeof to->rows.values[row]);
    else
        memcpy(to->rows.codes[row], from->codes[token], sizeof to->rows.codes[row]);
}

/* Copies a token to part `part` of PE `at`, if it has chosen expert `first` or one of the n that follow. */
static int take(int at, int part, int slot, int from, int token, int first, int n)
{
    struct pe *to = &world.pe[at];
    int taken = 0;

    for (int k = 0; k < TOPK; k++) {
        int local = world.pe[from].topk[token][k] - first;
        if (world.pe[from].topk[token][k] >= 0 && local >= 0 && local < n)
            taken = 1;
    }
    for (int k = 0; k < TOPK && taken && world.mode == REF_HIGH_THROUGHPUT; k++) {
        int local = world.pe[from].topk[token][k] - at * MINE, here = local >= 0 && local < MINE;
        to->row_topk[slot][k] = here ? local : -1;
        to->row_weights[slot][k] = here ? world.pe[from].weights[token][k] : 0;
        to->counts[here ? local : 0] += here;
    }
    if (taken) {
        copy_row(to, part, slot, &world.pe[from], token);
        to->row_of[from][token][part] = slot;
    }
    return taken;
}

/* Source PE number i of those of PE `pe`: in low latency the PEs of its host, half of all, come first. */
static int source_of(int pe, int i)
{
    int first = pe / (PES / 2) * (PES / 2);

    return world.mode == REF_LOW_LATENCY ? (first + i) % PES : i;
}

static void dispatch(void)
{
    int parts = world.mode == REF_LOW_LATENCY ? MINE : 1;

    for (int at = 0; at < PES * parts; at++) {
        struct pe *to = &world.pe[at / parts];
        int part = at % parts, slot = 0, first = world.mode == REF_LOW_LATENCY ? at : at * MINE;

        for (int i = 0; i < PES; i++) {
            int from = source_of(at / parts, i), before = slot;
            for (int token = 0; token < ref_tokens(&world.job, from); token++)
                slot += take(at / parts, part, slot, from, token, first, MINE / parts);
            int32_t *source = world.mode == REF_LOW_LATENCY ? to->sources[part][from] : to->sources[0][from];
            source[0] = before;
            source[1] = slot - before;
        }
        if (world.mode == REF_LOW_LATENCY)
            to->counts[part] = slot;
    }
}

static void give(void *arg, const int32_t *topk, int k, uint16_t *row)
{
    const int *token = arg; /* PE, number */
    int part = world.mode == REF_LOW_LATENCY ? topk[k] % MINE : 0;
    const struct pe *from = &world.pe[topk[k] / MINE];

    memcpy(row, from->y[part * CAPACITY + from->row_of[token[0]][token[1]][part]], HIDDEN * sizeof *row);
}

/* The PE of choice `at`, if that is the first of the token with this PE, else -1. */
static int first_of_pe(int pe, int token, int at)
{
    const int32_t *topk = world.pe[pe].topk[token];

    for (int before = 0; before < at; before++)
        if (topk[before] >= 0 && topk[at] >= 0 && topk[before] / MINE == topk[at] / MINE)
            return -1;
    return topk[at] < 0 ? -1 : topk[at] / MINE;
}

static float weight_of(int pe, int token, int from, int k)
{
    return world.pe[from].y_weights[world.pe[from].row_of[pe][token][0]][k];
}

/* Column k over all PEs of a host in turn, from choice `at` on; of choice `at` alone where hosts do not add. */
static float host_sum(int pe, int token, int at, int k)
{
    int host = ref_host_of(&world.job, first_of_pe(pe, token, at));
    bool adds = world.route == REF_ONE_COPY && host != ref_host_of(&world.job, pe);
    float total = weight_of(pe, token, first_of_pe(pe, token, at), k);

    for (int next = at + 1; next < TOPK && adds; next++) {
        int from = first_of_pe(pe, token, next);

        if (from >= 0 && ref_host_of(&world.job, from) == host)
            total += weight_of(pe, token, from, k);
    }
    return total;
}

static bool is_in_earlier_sum(int pe, int token, int at)
{
    int host = ref_host_of(&world.job, first_of_pe(pe, token, at));

    for (int before = 0; before < at; before++) {
        int from = first_of_pe(pe, token, before);

        if (from >= 0 && ref_host_of(&world.job, from) == host)
            return world.route == REF_ONE_COPY && host != ref_host_of(&world.job, pe);
    }
    return false;
}

/* Column k over all PEs that have the token. */
static float weights_sum(int pe, int token, int k)
{
    float total = 0;

    for (int at = 0; at < TOPK; at++)
        if (first_of_pe(pe, token, at) >= 0 && !is_in_earlier_sum(pe, token, at))
            total += host_sum(pe, token, at, k);
    return total;
}

static void combine(int pe)
{
    for (int token = 0; token < ref_tokens(&world.job, pe); token++) {
        struct pe *to = &world.pe[pe];
        int arg[2] = {pe, token};

        CU_ASSERT_EQUAL(ref_combine(&world.job, world.mode, world.route, pe, to->topk[token],
                                    to->weights[token], give, arg, to->out[token]),
                        0);
        for (int k = 0; k < TOPK; k++)
            to->out_weights[token][k] = weights_sum(pe, token, k);
    }
}

static int dispatch_wrong(int pe)
{
    const struct pe *is = &world.pe[pe];
    const struct ref_output output = {.rows = &is->rows,
                                      .row_scales = is->row_scales[0],
                                      .counts = is->counts,
                                      .sources = is->sources[0][0],
                                      .row_topk = is->row_topk[0],
                                      .row_weights = is->row_weights[0],
                                      .capacity = CAPACITY};
    struct ref_received received;

    CU_ASSERT_EQUAL_FATAL(ref_received_make(&received, &world.job, world.mode, pe), 0);
    int wrong = ref_dispatch_wrong(&received, &output, line, sizeof line);
    ref_fill_y(&received, CAPACITY, world.pe[pe].y[0],
               world.mode == REF_LOW_LATENCY ? NULL : world.pe[pe].y_weights[0]);
    ref_received_free(&received);
    return wrong;
}

static int combine_wrong(int pe)
{
    const struct pe *is = &world.pe[pe];

    return ref_combine_wrong(&world.job, world.mode, world.route, pe, is->out[0],
                             world.mode == REF_LOW_LATENCY ? NULL : is->out_weights[0], line, sizeof line);
}

static void make_world(enum ref_mode mode, enum ref_dtype dtype, enum ref_route route,
                       enum ref_routing routing)
{
    memset(&world, 0, sizeof world);
    world.mode = mode;
    world.route = route;
    world.job = (struct ref_job){.pes = PES,
                                 .hosts = 2,
                                 .experts = EXPERTS,
                                 .topk = TOPK,
                                 .tokens = TOKENS,
                                 .hidden = HIDDEN,
                                 .dtype = dtype,
                                 .routing = routing,
                                 .seed = 7,
                                 .call = 3};
    fill();
    dispatch();
}

static void right_ones_are_accepted(void)
{
    for (int i = 0; i < REF_MODES * REF_DTYPES * REF_ROUTES * REF_ROUTINGS; i++) {
        make_world((enum ref_mode)(i % 2), (enum ref_dtype)(i / 2 % 3), (enum ref_route)(i / 6 % 2),
                   (enum ref_routing)(i / 12));
        for (int pe = 0; pe < PES; pe++)
            CU_ASSERT_EQUAL(dispatch_wrong(pe), 0);
        for (int pe = 0; pe < PES; pe++) {
            combine(pe);
            CU_ASSERT_EQUAL(combine_wrong(pe), 0);
        }
    }
}

/* One bit of a byte of what `wrong` looks at is changed, and changed back. */
static void is_noticed(void *byte, int (*wrong)(int), const char *text)
{
    *(unsigned char *)byte ^= 1;
    line[0] = '\0';
    CU_ASSERT_EQUAL(wrong(1), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, text));
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "PE 1, call 3, "));
    *(unsigned char *)byte ^= 1;
    CU_ASSERT_EQUAL(wrong(1), 0);
}

static void wrong_ones_are_noticed(void)
{
    struct pe *pe = &world.pe[1];

    make_world(REF_LOW_LATENCY, REF_FP8, REF_DIRECT, REF_UNIFORM);
    is_noticed(&pe->rows.codes[CAPACITY][HIDDEN - 1], dispatch_wrong, "code 255 of row 0 of part 1");
    is_noticed(&pe->row_scales[1][1], dispatch_wrong, "scale 1 of row 1 of part 0");
    is_noticed(&pe->counts[1], dispatch_wrong, "count of part 1");
    is_noticed(&pe->sources[1][2][0], dispatch_wrong, "first row of part 1, source 2");
    is_noticed(&pe->sources[1][3][1], dispatch_wrong, "rows of part 1, source 3");
    make_world(REF_HIGH_THROUGHPUT, REF_BF16, REF_ONE_COPY, REF_UNIFORM);
    is_noticed(&pe->rows.values[3][7], dispatch_wrong, "column 7 of row 3 of part 0");
    is_noticed(&pe->row_topk[2][3], dispatch_wrong, "expert 3 of row 2");
    is_noticed(&pe->row_weights[2][3], dispatch_wrong, "weight 3 of row 2");
    for (int at = 0; at < PES; at++)
        CU_ASSERT_EQUAL(dispatch_wrong(at), 0);
    combine(1);
    is_noticed(&pe->out[5][200], combine_wrong, "combine: column 200 of token 5");
    is_noticed(&pe->out_weights[5][1], combine_wrong, "combine: weight 1 of token 5");
}

const struct unit_test unit_tests[] = {
    {"right calls are accepted", right_ones_are_accepted},
    {"each wrong value is noticed and named", wrong_ones_are_noticed},
    {NULL, NULL},
};
