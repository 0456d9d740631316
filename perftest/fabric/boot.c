/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's bootstrap, whose calls wait without a turn for others: they run in a thread while this one serves. */
#include "perftest/fabric/boot.h"

#include "perftest/common/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without an orderly end of the bootstrap the launcher takes this process as failed and ends the others. */
void fab_fail(const char *format, ...)
{
    char line[400];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    perf_complain("%s", line);
    fflush(NULL);
    _exit(PERF_FAILED);
}

int fab_boot_open(struct fab_boot *boot)
{
    *boot = (struct fab_boot){.n = 1};
    if (wsh_env_load(&boot->env))
        return -1;
    boot->env.hang_seconds = 0; /* that others wait while a row lasts is no hang */
    if (wsh_boot_open(&boot->boot, &boot->env))
        return -1;
    boot->me = boot->boot.my_pe;
    boot->n = boot->boot.n_pes;
    return 0;
}

void fab_boot_close(struct fab_boot *boot)
{
    fab_boot_barrier(boot);
    wsh_boot_close(&boot->boot);
}

/* A publication of `len` bytes, or a barrier where there are none. */
struct call {
    struct fab_boot *boot;
    const void *mine;
    size_t len;
    int status;
    atomic_bool done;
};

static void *call_run(void *arg)
{
    struct call *call = arg;
    struct wsh_boot *boot = &call->boot->boot;

    call->status = call->mine ? boot->ops->publish(boot, call->boot->rounds, call->mine, call->len)
                              : boot->ops->barrier(boot, "barrier");
    atomic_store_explicit(&call->done, true, memory_order_release); /* pairs with call_wait */
    return NULL;
}

/* The bootstrap has said what fails. */
static void call_wait(struct fab_boot *boot, const void *mine, size_t len)
{
    struct call call = {.boot = boot, .mine = mine, .len = len};
    pthread_t thread;

    if (!boot->serve)
        call_run(&call);
    else if (pthread_create(&thread, NULL, call_run, &call))
        fab_fail("cannot start a thread; raise `ulimit -u`");
    while (!atomic_load_explicit(&call.done, memory_order_acquire)) { /* pairs with call_run */
        boot->serve(boot->arg);
        if (!boot->alone)
            sched_yield();
    }
    if (boot->serve)
        pthread_join(thread, NULL);
    if (call.status)
        _exit(PERF_FAILED);
}

void fab_boot_barrier(struct fab_boot *boot)
{
    call_wait(boot, NULL, 0);
}

void fab_boot_share(struct fab_boot *boot, const void *mine, size_t len, void *all)
{
    call_wait(boot, mine, len);
    for (int i = 0; i < boot->n; i++) {
        void *blob;
        size_t got;

        if (boot->boot.ops->lookup(&boot->boot, boot->rounds, i, &blob, &got))
            _exit(PERF_FAILED);
        if (got != len)
            fab_fail("process %d sent other bytes than expected; is it another build?", i);
        memcpy((char *)all + (size_t)i * len, blob, len);
        free(blob);
    }
    boot->rounds++;
}

static long *longs_share(struct fab_boot *boot, long value)
{
    long *all = calloc((size_t)boot->n, sizeof(*all));

    if (!all)
        fab_fail("no memory for %d values", boot->n);
    fab_boot_share(boot, &value, sizeof(value), all);
    return all;
}

long fab_boot_agree(struct fab_boot *boot, long value)
{
    long *all = longs_share(boot, value), first = all[0];

    free(all);
    return first;
}

long fab_boot_sum(struct fab_boot *boot, long value)
{
    long *all = longs_share(boot, value), sum = 0;

    for (int i = 0; i < boot->n; i++)
        sum += all[i];
    free(all);
    return sum;
}
