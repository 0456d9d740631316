/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how processes under a PMIx launcher number themselves, exchange bytes and wait for one another. */
#define _GNU_SOURCE
#include "perftest/fabric/boot.h"

#include <errno.h>
#include <pmix.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t self;

static void say(const char *format, va_list args)
{
    char line[512];

    vsnprintf(line, sizeof(line), format, args);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
}

void fab_complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
}

/* Without PMIx_Finalize the launcher takes this process as failed and ends the others. */
void fab_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    fflush(NULL);
    _exit(1);
}

static void must(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS)
        fab_fail("%s: %s; another process or the launcher has ended", what, PMIx_Error_string(status));
}

static int job_size(void)
{
    pmix_value_t *value = NULL;
    pmix_proc_t job;
    int n = 0;

    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value) != PMIX_SUCCESS)
        return 0;
    if (value->type == PMIX_UINT32)
        n = (int)value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return n;
}

int fab_boot_open(struct fab_boot *boot)
{
    pmix_status_t status;

    *boot = (struct fab_boot){.n = 1};
    if (!getenv("PMIX_RANK"))
        return 0;
    status = PMIx_Init(&self, NULL, 0);
    if (status == PMIX_SUCCESS) {
        boot->me = (int)self.rank;
        boot->n = job_size();
    }
    if (boot->n > boot->me)
        return 0;
    fab_complain("PMIx_Init: %s; start with oshrun -n 2", PMIx_Error_string(status));
    return -1;
}

void fab_boot_close(struct fab_boot *boot)
{
    if (!PMIx_Initialized())
        return;
    fab_boot_barrier(boot);
    PMIx_Finalize(NULL, 0);
}

/* The release store here pairs with the acquire load in fence(): what libpmix stored is then there. */
static void fence_done(pmix_status_t status, void *arg)
{
    (void)status;
    atomic_store_explicit((atomic_int *)arg, status == PMIX_SUCCESS ? 1 : -1, memory_order_release);
}

static void fence(struct fab_boot *boot, bool collect)
{
    atomic_int done = 0;
    pmix_info_t info;
    int state;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    must(PMIx_Fence_nb(NULL, 0, &info, 1, fence_done, &done), "PMIx_Fence_nb");
    while (!(state = atomic_load_explicit(&done, memory_order_acquire))) { /* pairs with fence_done */
        if (boot->serve)
            boot->serve(boot->arg);
        sched_yield();
    }
    PMIX_INFO_DESTRUCT(&info);
    must(state > 0 ? PMIX_SUCCESS : PMIX_ERROR, "waiting for the other processes");
}

void fab_boot_barrier(struct fab_boot *boot)
{
    fence(boot, false);
}

void fab_boot_share(struct fab_boot *boot, const void *mine, size_t len, void *all)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)(uintptr_t)mine, len}};
    char key[PMIX_MAX_KEYLEN + 1];

    snprintf(key, sizeof(key), "perf.%d", boot->rounds++);
    must(PMIx_Put(PMIX_GLOBAL, key, &value), "PMIx_Put");
    must(PMIx_Commit(), "PMIx_Commit");
    fence(boot, true);
    for (int i = 0; i < boot->n; i++) {
        pmix_value_t *got = NULL;
        pmix_proc_t proc;

        PMIX_LOAD_PROCID(&proc, self.nspace, (pmix_rank_t)i);
        must(PMIx_Get(&proc, key, NULL, 0, &got), "PMIx_Get");
        if (got->type != PMIX_BYTE_OBJECT || got->data.bo.size != len)
            fab_fail("process %d sent other bytes than expected; is it another build?", i);
        memcpy((char *)all + (size_t)i * len, got->data.bo.bytes, len);
        PMIX_VALUE_RELEASE(got);
    }
}

static void share_longs(struct fab_boot *boot, long value, long *first, long *sum)
{
    long *all = calloc((size_t)boot->n, sizeof(*all));

    if (!all)
        fab_fail("no memory for %d values", boot->n);
    fab_boot_share(boot, &value, sizeof(value), all);
    *first = all[0];
    *sum = 0;
    for (int i = 0; i < boot->n; i++)
        *sum += all[i];
    free(all);
}

long fab_boot_agree(struct fab_boot *boot, long value)
{
    long first, sum;

    share_longs(boot, value, &first, &sum);
    return first;
}

long fab_boot_sum(struct fab_boot *boot, long value)
{
    long first, sum;

    share_longs(boot, value, &first, &sum);
    return sum;
}
