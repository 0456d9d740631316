/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a fabric test: who they are, and what they exchange by the library's bootstrap. */
#ifndef PERFTEST_FABRIC_BOOT_H
#define PERFTEST_FABRIC_BOOT_H

#include "bootstrap/boot.h"

struct fab_boot {
    struct wsh_boot boot;
    struct wsh_env env;
    int me;
    int n;
    int rounds;               /* exchanges so far, alike on every process */
    void (*serve)(void *arg); /* called again and again while this process waits for others; NULL: nothing */
    void *arg;
    bool alone; /* polls leave the core to nobody */
};

/* Joins the job of the launcher; without one this process is alone. 0, or -1 after one line. */
int fab_boot_open(struct fab_boot *boot);
/* Collective. */
void fab_boot_close(struct fab_boot *boot);
void fab_boot_barrier(struct fab_boot *boot);
/* Collective: the `len` bytes of each process, in order of rank, in `all`. `len` is the same everywhere. */
void fab_boot_share(struct fab_boot *boot, const void *mine, size_t len, void *all);
/* Collective: the value of process 0; the sum of all. */
long fab_boot_agree(struct fab_boot *boot, long value);
long fab_boot_sum(struct fab_boot *boot, long value);

/* perf_complain, and the job ends with status 1. */
_Noreturn void fab_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
