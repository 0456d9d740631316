/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives: the time of one, of eight in flight, and how much of an alltoall computation hides;
 * alltoallv of equal counts beside alltoall and beside puts by hand.
 */
#include "perftest/common/coll.h"
#include "perftest/common/report.h"

#include <shmemx.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef SHMEMX_REQ_INVALID
enum { DEPTH = 8, PES_MAX = 1024 };

static size_t counts[PES_MAX], offsets[PES_MAX], dest_counts[PES_MAX], dest_offsets[PES_MAX];
/* What rows of one size have given. */
static struct overlap {
    size_t len;                     /* 0: not used yet */
    double alltoall, one, computed; /* us */
    long turns;                     /* of a computation that takes as long as an alltoall */
} overlaps[64];

static struct overlap *overlap_of(size_t len)
{
    struct overlap *overlap = overlaps;

    while (overlap->len && overlap->len != len && overlap < overlaps + 63)
        overlap++;
    overlap->len = len;
    return overlap;
}

static void alltoall(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_alltoallmem(SHMEM_TEAM_WORLD, run->dest, run->source, run->len);
}

static void alltoall_nb(struct perf_run *run, long count)
{
    shmemx_req_h request;

    for (long i = 0; i < count; i++) {
        shmemx_alltoallmem_nb(SHMEM_TEAM_WORLD, run->dest, run->source, run->len, &request);
        shmemx_req_wait(&request);
    }
}

/* Each to a place of its own, as far as there is room for it. */
static char *place(const struct perf_run *run, int k)
{
    size_t apart = (run->len * (size_t)run->npes + 127) & ~(size_t)127;

    return run->dest + (apart * DEPTH <= run->size ? (size_t)k * apart : 0);
}

static void alltoall_nb_8(struct perf_run *run, long count)
{
    shmemx_req_h requests[DEPTH];

    for (long i = 0; i < count; i++) {
        for (int k = 0; k < DEPTH; k++)
            shmemx_alltoallmem_nb(SHMEM_TEAM_WORLD, place(run, k), run->source, run->len, &requests[k]);
        shmemx_req_wait_all(requests, DEPTH);
    }
}

static void sync_nb(struct perf_run *run, long count)
{
    shmemx_req_h request;

    (void)run;
    for (long i = 0; i < count; i++) {
        shmemx_sync_nb(SHMEM_TEAM_WORLD, &request);
        shmemx_req_wait(&request);
    }
}

static void sum_nb(struct perf_run *run, long count)
{
    shmemx_req_h request;

    for (long i = 0; i < count; i++) {
        shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, (long *)run->dest, (long *)run->source,
                                  run->len / sizeof(long), &request);
        shmemx_req_wait(&request);
    }
}

static void counts_fill(const struct perf_run *run)
{
    for (int pe = 0; pe < run->npes; pe++) {
        counts[pe] = dest_counts[pe] = run->len;
        offsets[pe] = dest_offsets[pe] = (size_t)pe * run->len;
    }
}

static void alltoallv(struct perf_run *run, long count)
{
    counts_fill(run);
    for (long i = 0; i < count; i++)
        shmemx_alltoallvmem(SHMEM_TEAM_WORLD, run->dest, dest_counts, dest_offsets, run->source, counts,
                            offsets);
}

static void alltoallv_packed(struct perf_run *run, long count)
{
    size_t need;

    counts_fill(run);
    for (long i = 0; i < count; i++)
        shmemx_alltoallvmem_packed_nelems(SHMEM_TEAM_WORLD, run->dest, dest_counts, dest_offsets, run->size,
                                          1, &need, run->source, counts, offsets);
}

/* What a program writes that knows all counts and places: the blocks and a word of each PE with them. */
static void puts_by_hand(struct perf_run *run, long count)
{
    uint64_t *arrived = run->state;
    size_t at = (size_t)run->me * run->len;

    for (long i = 0; i < count; i++) {
        run->seq++;
        for (int k = 1; k < run->npes; k++) {
            int pe = (run->me + k) % run->npes;

            shmem_putmem_signal_nbi(run->dest + at, run->source + (size_t)pe * run->len, run->len,
                                    &arrived[run->me], run->seq, SHMEM_SIGNAL_SET, pe);
        }
        memcpy(run->dest + at, run->source + at, run->len);
        for (int k = 1; k < run->npes; k++)
            shmem_signal_wait_until(&arrived[(run->me + k) % run->npes], SHMEM_CMP_GE, run->seq);
        shmem_quiet(); /* the source may be filled again */
    }
}

static double now_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* Work that touches no memory. */
static void compute(long turns)
{
    volatile double x = 1;

    for (long i = 0; i < turns; i++)
        x = x * 1.0000001;
}

/* Collective. */
static long turns_find(struct perf_run *run)
{
    struct overlap *overlap = overlap_of(run->len);
    long turns = 200000;
    double begin = now_us(), rate, took;

    if (overlap->turns)
        return overlap->turns;
    compute(turns);
    rate = (double)turns / (now_us() - begin);
    alltoall(run, 4);
    begin = now_us();
    alltoall(run, 10);
    took = (now_us() - begin) / 10;
    overlap->turns = perf_agree(run, (long)(took * rate) + 1);
    return overlap->turns;
}

static void computation(struct perf_run *run, long count)
{
    long turns = turns_find(run);

    for (long i = 0; i < count; i++)
        compute(turns);
}

static void overlapped(struct perf_run *run, long count)
{
    long turns = turns_find(run);
    shmemx_req_h request;

    for (long i = 0; i < count; i++) {
        shmemx_alltoallmem_nb(SHMEM_TEAM_WORLD, run->dest, run->source, run->len, &request);
        compute(turns);
        shmemx_req_wait(&request);
    }
}
#else
#define alltoall NULL
#define alltoall_nb NULL
#define alltoall_nb_8 NULL
#define sync_nb NULL
#define sum_nb NULL
#define alltoallv NULL
#define alltoallv_packed NULL
#define puts_by_hand NULL
#define computation NULL
#define overlapped NULL
#endif

static size_t seed(int from, int to)
{
    return (size_t)from * 251 + (size_t)to * 3;
}

static long check(struct perf_run *run, const struct perf_op *op)
{
    long wrong = 0;

    for (int pe = 0; pe < run->npes; pe++)
        perf_fill(run->source + (size_t)pe * run->len, run->len, seed(run->me, pe));
    memset(run->dest, 0, run->span);
    shmem_barrier_all();
    perf_once(run, op, 1);
    for (int pe = 0; pe < run->npes; pe++)
        wrong += perf_wrong(run->dest + (size_t)pe * run->len, run->len, seed(pe, run->me));
    return wrong;
}

static long check_sums(struct perf_run *run, const struct perf_op *op)
{
    perf_coll_fill_longs(run);
    perf_once(run, op, 1);
    return perf_coll_wrong_sums(run, run->npes - 1);
}

static long check_nothing(struct perf_run *run, const struct perf_op *op)
{
    (void)run, (void)op;
    return 0;
}

#ifdef SHMEMX_REQ_INVALID
static size_t buffer_size(const struct perf_run *run, size_t len)
{
    size_t all = perf_coll_all_pes(run, len);

    return all > 1 << 20 ? all : DEPTH * ((all + 127) & ~(size_t)127);
}

static int arrived_open(struct perf_run *run)
{
    run->state = shmem_calloc((size_t)run->npes, sizeof(uint64_t));
    if (!run->state)
        fprintf(stderr,
                "nonblocking: no symmetric memory for a word of each PE; raise SHMEM_SYMMETRIC_SIZE\n");
    return run->state ? PERF_OK : PERF_FAILED;
}

static void arrived_close(struct perf_run *run)
{
    shmem_free(run->state);
}

static void ratio_say(const struct perf_row *row, const char *of, double us)
{
    if (us > 0)
        fprintf(stderr, "# %zu bytes: %s takes %.2f times %s\n", row->len, row->op, row->us.p50 / us, of);
}

/* Of an alltoall, how much of its time is added to the computation; and what rows take as multiples of others. */
static void row_keep(struct perf_run *run, const struct perf_row *row)
{
    struct overlap *overlap = overlap_of(row->len);

    (void)run;
    if (!strcmp(row->op, "alltoall"))
        overlap->alltoall = row->us.p50;
    else if (!strncmp(row->op, "alltoallv", 9) || !strcmp(row->op, "puts_by_hand"))
        ratio_say(row, "alltoall", overlap->alltoall);
    else if (!strcmp(row->op, "alltoall_nb"))
        overlap->one = row->us.p50;
    else if (!strcmp(row->op, "alltoall_nb_8"))
        ratio_say(row, "alltoall_nb", overlap->one);
    else if (!strcmp(row->op, "computation"))
        overlap->computed = row->us.p50;
    else if (!strcmp(row->op, "overlapped") && overlap->alltoall > 0)
        fprintf(stderr, "# %zu bytes: a computation of %.1f us hides %.0f %% of an alltoall of %.1f us\n",
                row->len, overlap->computed,
                100 * (1 - (row->us.p50 - overlap->computed) / overlap->alltoall), overlap->alltoall);
}
#else
#define buffer_size perf_coll_all_pes
#define arrived_open NULL
#define arrived_close NULL
#define row_keep NULL
#endif

#define OP(NAME, CHECK)                                                                              \
    {                                                                                                \
        .name = #NAME, .who = PERF_SLOWEST, .each = 1, .batch = NAME, .check = CHECK, .needs = needs \
    }

static const char needs[] = "shmemx_alltoallmem_nb (warpshmem)";

static const struct perf_op ops[] = {
    OP(alltoall, check),
    OP(alltoallv, check),
    OP(alltoallv_packed, check),
    OP(puts_by_hand, check),
    OP(alltoall_nb, check),
    OP(alltoall_nb_8, check),
    OP(sum_nb, check_sums),
    {.name = "sync_nb",
     .who = PERF_SLOWEST,
     .len = 8,
     .each = 1,
     .batch = sync_nb,
     .check = check_nothing,
     .needs = needs},
    OP(computation, check_nothing),
    OP(overlapped, check),
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "nonblocking",
    .what =
        "nonblocking collectives, one and eight in flight, and beside computation; alltoallv beside alltoall",
    .ops = ops,
    .min_pes = 1,
    .defaults = {.begin = 8, .end = 1 << 20, .multiple = 8},
    .buffer_size = buffer_size,
    .setup = arrived_open,
    .teardown = arrived_close,
    .row = row_keep,
};
