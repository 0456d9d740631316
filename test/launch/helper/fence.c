/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fence of the launcher's PMIx costs, with and without collecting: `oshrun -n 16 fence [BYTES]`. Each process
 * puts BYTES (default 512) once, as a PE does in shmem_init; then the 2nd to the 10th fence are timed. Process 0 prints
 * the median time, and what its host received in a fence over lo and over all other interfaces: right on an idle host.
 */
#include <pmix.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 9 /* the 2nd to the 10th */

static pmix_proc_t self;

static void must(pmix_status_t status, const char *what)
{
    if (status == PMIX_SUCCESS)
        return;
    fprintf(stderr, "fence: %s: %s; start with oshrun, srun --mpi=pmix or mpirun\n", what,
            PMIx_Error_string(status));
    exit(1);
}

static int job_size(void)
{
    pmix_value_t *value = NULL;
    pmix_proc_t job;
    int n;

    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    must(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), "job size");
    n = (int)value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return n;
}

static void put(size_t len)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};

    value.data.bo.bytes = malloc(len ? len : 1);
    value.data.bo.size = len;
    if (!value.data.bo.bytes)
        exit(1);
    memset(value.data.bo.bytes, (int)self.rank, len);
    must(PMIx_Put(PMIX_GLOBAL, "fence.blob", &value), "put");
    must(PMIx_Commit(), "commit");
    free(value.data.bo.bytes);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Bytes received since boot: by lo, and by all other interfaces. */
static void received(double *inside, double *outside)
{
    FILE *file = fopen("/proc/net/dev", "r");
    char line[512], name[64];
    unsigned long long bytes;

    *inside = *outside = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " %63[^:]: %llu", name, &bytes) == 2)
            *(strcmp(name, "lo") ? outside : inside) += (double)bytes;
    if (file)
        fclose(file);
}

static void fence(bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    must(PMIx_Fence(NULL, 0, &info, 1), "fence");
    PMIX_INFO_DESTRUCT(&info);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void measure(int n, size_t len, bool collect)
{
    double times[ROUNDS], lo[2], net[2];

    fence(collect);
    received(&lo[0], &net[0]);
    for (int i = 0; i < ROUNDS; i++) {
        double began = now();

        fence(collect);
        times[i] = now() - began;
    }
    received(&lo[1], &net[1]);
    qsort(times, ROUNDS, sizeof times[0], by_value);
    if (self.rank == 0)
        printf(
            "%4d PEs  %6zu B a PE  %-14s  %8.0f us (%.0f to %.0f)  %9.0f B on lo  %9.0f B from other hosts\n",
            n, len, collect ? "collecting" : "not collecting", times[ROUNDS / 2], times[0], times[ROUNDS - 1],
            (lo[1] - lo[0]) / ROUNDS, (net[1] - net[0]) / ROUNDS);
}

int main(int argc, char **argv)
{
    size_t len = argc > 1 ? strtoul(argv[1], NULL, 0) : 512;
    int n;

    must(PMIx_Init(&self, NULL, 0), "PMIx_Init");
    n = job_size();
    put(len);
    fence(true);
    measure(n, len, false);
    measure(n, len, true);
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
