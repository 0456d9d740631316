/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the machine's memory and caches themselves do, without a routine of SHMEM: the limit beside which put, get,
 * ping-pongs and the collectives of one host are judged. Only addresses come from SHMEM, by shmem_ptr.
 */
#define _GNU_SOURCE /* CPU_COUNT */
#include "perftest/common/coll.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Another PE's buffers, as this one sees them. */
struct mapped {
    char *source, *dest;
    uint64_t *flag;
};

static const struct mapped *of(const struct perf_run *run, int pe)
{
    return (const struct mapped *)run->state + pe;
}

static int map_all(struct perf_run *run)
{
    struct mapped *all = calloc((size_t)run->npes, sizeof *all);

    for (int pe = 0; all && pe < run->npes; pe++) {
        all[pe] =
            (struct mapped){shmem_ptr(run->source, pe), shmem_ptr(run->dest, pe), shmem_ptr(run->flag, pe)};
        if (!all[pe].source || !all[pe].dest || !all[pe].flag) {
            perf_complain("PE %d sees no memory of PE %d (shmem_ptr gives NULL); run it on one host", run->me,
                          pe);
            free(all);
            return PERF_SKIP;
        }
    }
    run->state = all;
    return all ? PERF_OK : PERF_FAILED;
}

static void unmap_all(struct perf_run *run)
{
    free(run->state);
}

static void copy(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        memcpy(of(run, run->peer)->dest, run->source, run->len);
}

/* The line of the flag to the other core and back. */
static void line(struct perf_run *run, long count)
{
    uint64_t *theirs = of(run, run->peer)->flag;

    for (long i = 0; i < count; i++) {
        run->seq++;
        if (run->me == 0)
            __atomic_store_n(theirs, run->seq, __ATOMIC_RELEASE);
        while (__atomic_load_n(run->flag, __ATOMIC_ACQUIRE) != run->seq)
            continue;
        if (run->me != 0)
            __atomic_store_n(theirs, run->seq, __ATOMIC_RELEASE);
    }
}

static long check_copy(struct perf_run *run, const struct perf_op *op)
{
    perf_fill(run->source, run->len, run->len + (size_t)run->me);
    memset(run->dest, 0, run->len);
    shmem_barrier_all();
    perf_once(run, op, 1);
    return run->me == run->npes - 1 ? perf_wrong(run->dest, run->len, run->len) : 0;
}

/* As many PEs as there are cores for them do the work of all: nobody takes turns, nobody waits. */
static int count_workers(const struct perf_run *run)
{
    cpu_set_t cores;
    int n = sched_getaffinity(0, sizeof cores, &cores) ? 1 : CPU_COUNT(&cores);

    return n < run->npes ? n : run->npes;
}

/* Block `to` of every source, into dest of PE `to`. */
static void gather(struct perf_run *run, int to, size_t step,
                   void (*copy_block)(void *, const void *, size_t))
{
    for (int k = 0; k < run->npes; k++) {
        int from = (to + k) % run->npes;

        copy_block(of(run, to)->dest + (size_t)from * run->len, of(run, from)->source + (size_t)to * step,
                   run->len);
    }
}

static void gather_all(struct perf_run *run, long count, size_t step,
                       void (*copy_block)(void *, const void *, size_t))
{
    int workers = count_workers(run);

    for (long i = 0; i < count; i++)
        for (int to = run->me; to < run->npes && run->me < workers; to += workers)
            gather(run, to, step, copy_block);
}

static void by_memcpy(void *dest, const void *src, size_t len)
{
    memcpy(dest, src, len);
}

static void alltoall(struct perf_run *run, long count)
{
    gather_all(run, count, run->len, by_memcpy);
}

static void fcollect(struct perf_run *run, long count)
{
    gather_all(run, count, 0, by_memcpy);
}

#if defined(__x86_64__)
static void by_string(void *dest, const void *src, size_t len)
{
    __asm__ volatile("rep movsb" : "+D"(dest), "+S"(src), "+c"(len) : : "memory");
}

static void alltoall_string(struct perf_run *run, long count)
{
    gather_all(run, count, run->len, by_string);
}

static void fcollect_string(struct perf_run *run, long count)
{
    gather_all(run, count, 0, by_string);
}
#else
#define alltoall_string NULL
#define fcollect_string NULL
#endif

static size_t seed(int from, int to)
{
    return (size_t)from * 251 + (size_t)to * 3;
}

static long check_blocks(struct perf_run *run, const struct perf_op *op, bool own)
{
    long wrong = 0;

    for (int pe = 0; pe < run->npes; pe++)
        perf_fill(run->source + (size_t)pe * run->len, run->len, seed(run->me, own ? pe : 0));
    memset(run->dest, 0, run->span);
    shmem_barrier_all();
    perf_once(run, op, 1);
    for (int pe = 0; pe < run->npes; pe++)
        wrong += perf_wrong(run->dest + (size_t)pe * run->len, run->len, seed(pe, own ? run->me : 0));
    return wrong;
}

static long check_alltoall(struct perf_run *run, const struct perf_op *op)
{
    return check_blocks(run, op, true);
}

static long check_fcollect(struct perf_run *run, const struct perf_op *op)
{
    return check_blocks(run, op, false);
}

/* A wrong value would have hung. */
static long check_line(struct perf_run *run, const struct perf_op *op)
{
    shmem_barrier_all();
    perf_once(run, op, 1);
    return (run->me == 0 || run->me == run->npes - 1) && run->flag[0] != run->seq;
}

static const struct perf_op ops[] = {
    {.name = "copy", .each = 1, .batch = copy, .check = check_copy},
    {.name = "line", .who = PERF_PAIR, .len = 8, .each = 2, .batch = line, .check = check_line},
    {.name = "alltoall", .who = PERF_SLOWEST, .each = 1, .batch = alltoall, .check = check_alltoall},
    {.name = "fcollect", .who = PERF_SLOWEST, .each = 1, .batch = fcollect, .check = check_fcollect},
    {.name = "alltoall_string",
     .who = PERF_SLOWEST,
     .each = 1,
     .batch = alltoall_string,
     .check = check_alltoall,
     .needs = "rep movsb (x86-64)"},
    {.name = "fcollect_string",
     .who = PERF_SLOWEST,
     .each = 1,
     .batch = fcollect_string,
     .check = check_fcollect,
     .needs = "rep movsb (x86-64)"},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "memory_bare",
    .what = "bare memory of one host: one copy, half a round trip of a line, the copies of collectives",
    .ops = ops,
    .min_pes = 2,
    .defaults = {.begin = 8, .end = 1 << 20},
    .buffer_size = perf_coll_all_pes,
    .setup = map_all,
    .teardown = unmap_all,
};
