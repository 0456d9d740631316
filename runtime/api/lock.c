/* SPDX-License-Identifier: BSD-3-Clause */
/* The public locks (section 9.13). */
#include "runtime/op/lock.h"

#include "runtime/api/api.h"
#include "base/log.h"
#include "runtime/api/check/overwrite.h"

#include <shmemx.h>

/* The former holder of the lock may have seen what was put before. */
static void lock_begin(const char *what)
{
    wsh_api_ready(what);
    if (wsh_job.check)
        wsh_overwrite_forget(NULL);
}

/* `what` ends in ": lock". */
static WSH_COLD void lock_fail(const char *what, int rc, const long *lock)
{
    if (rc == -EDEADLK)
        wsh_api_bad(what,
                    "this PE holds the lock, or waits for it, already; clear it first: locks do not nest");
    if (rc == -EPERM)
        wsh_api_bad(what, "this PE does not hold the lock; only who has set it clears it");
    wsh_api_fail(what, rc, SHMEM_CTX_DEFAULT, lock, sizeof *lock, wsh_job.my_pe);
}

/* Once: a PE has failed, and the others go on. */
static WSH_COLD void lock_broken(const char *what)
{
    static bool said;

    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        wsh_warn("%s returns without the lock: a PE has failed, which may have been in its queue; call "
                 "shmemx_team_shrink for SHMEM_TEAM_WORLD, after which all locks are free",
                 what);
}

WSH_SHELL(void, set_lock, (long *lock))
{
    int rc;

    lock_begin("shmem_set_lock");
    rc = wsh_lock_set(&wsh_job, lock);
    if (wsh_unlikely(rc == -EOWNERDEAD))
        lock_broken("shmem_set_lock");
    else if (wsh_unlikely(rc))
        lock_fail("shmem_set_lock: lock", rc, lock);
}

int shmemx_set_lock_status(long *lock)
{
    int rc;

    lock_begin("shmemx_set_lock_status");
    rc = wsh_lock_set(&wsh_job, lock);
    if (wsh_unlikely(rc && rc != -EOWNERDEAD))
        lock_fail("shmemx_set_lock_status: lock", rc, lock);
    return rc;
}

WSH_SHELL(int, test_lock, (long *lock))
{
    bool held = false;
    int rc;

    lock_begin("shmem_test_lock");
    rc = wsh_lock_test(&wsh_job, lock, &held);
    if (wsh_unlikely(rc && rc != -EOWNERDEAD))
        lock_fail("shmem_test_lock: lock", rc, lock);
    return !held;
}

WSH_SHELL(void, clear_lock, (long *lock))
{
    int rc;

    lock_begin("shmem_clear_lock");
    rc = wsh_lock_clear(&wsh_job, lock);
    if (wsh_unlikely(rc && rc != -EOWNERDEAD))
        lock_fail("shmem_clear_lock: lock", rc, lock);
}
