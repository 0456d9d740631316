/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 waits for 3 s in the routine that the argument names, while PE 1 does not come; for hang_report.sh. */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdio.h>
#include <string.h>

#define SECONDS 3.0
#define LEN ((size_t)8 << 20)

static long word;

static void in_barrier(void)
{
    if (mp_me == 1)
        mp_sleep(SECONDS);
    shmem_barrier_all();
}

static void in_wait(void)
{
    if (mp_me == 1) {
        mp_sleep(SECONDS);
        shmem_long_p(&word, 5, 0);
    } else {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 5);
    }
}

/* What a library on top adds: twice, of which the first is taken away again. */
static void add_note(void *arg, char *text, size_t size)
{
    snprintf(text, size, "a library waits for %s", (const char *)arg);
}

static void in_noted(void)
{
    static char gone[] = "nobody", there[] = "PE 1: 3 of 4 parts";

    mp_check(!shmemx_report_add(add_note, gone) && !shmemx_report_add(add_note, there), "add");
    mp_check(!shmemx_report_remove(gone), "remove");
    in_barrier();
    mp_check(!shmemx_report_remove(there), "remove");
}

static void in_request(void)
{
    shmemx_req_h request;

    if (mp_me == 1)
        mp_sleep(SECONDS);
    shmemx_sync_nb(SHMEM_TEAM_WORLD, &request);
    shmemx_req_wait(&request);
}

static void in_lock(void)
{
    static long lock;

    if (mp_me == 1)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (mp_me == 1)
        mp_sleep(SECONDS);
    else
        shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
}

static void in_quiet(void)
{
    char *slot = mp_alloc(LEN), *src = mp_alloc(LEN);

    shmem_putmem(slot, src, LEN, mp_right());
    shmem_barrier_all();
    if (mp_me == 1) {
        shmem_long_p(&word, 1, 0);
        shmem_quiet();
        mp_stopper_stop_me(SECONDS);
        mp_sleep(0.5);
    } else {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
        mp_sleep(0.3);
        shmem_putmem_nbi(slot, src, LEN, 1);
        shmem_quiet();
    }
}

int main(int argc, char **argv)
{
    const char *where = argc > 1 ? argv[1] : "barrier";

    mp_stopper_start();
    mp_begin();
    if (!strcmp(where, "barrier"))
        in_barrier();
    else if (!strcmp(where, "request"))
        in_request();
    else if (!strcmp(where, "wait"))
        in_wait();
    else if (!strcmp(where, "noted"))
        in_noted();
    else if (!strcmp(where, "lock"))
        in_lock();
    else
        in_quiet();
    shmem_barrier_all();
    mp_stopper_end();
    return mp_end();
}
