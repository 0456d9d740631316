/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and keeps the unique id of the shmem_init to come, and goes by it. */
#define _GNU_SOURCE
#include "bootstrap/uid/again.h"

#include "bootstrap/methods.h"
#include "bootstrap/uid/survive/keeper.h"
#include "bootstrap/uid/root.h"
#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pid_t pid; /* the process that was a PE; 0: there is no id */
    int my_pe, n_pes;
    unsigned char id[WSH_BOOT_UID_BYTES];
    bool unused;        /* no world has begun by it */
    struct wsh_env env; /* of the present world */
} again;

/* The others come when they like. On one machine nobody else has to reach PE 0. */
static struct wsh_env env_make(const struct wsh_env *env, bool one_machine)
{
    struct wsh_env changed = *env;

    changed.uid_seconds = 0;
    if (one_machine)
        changed.uid_ifname = "=lo";
    return changed;
}

/* The root is a process of its own, which serves already. */
static bool is_kept(const struct wsh_env *env)
{
    return env->on_pe_failure == WSH_ON_PE_FAILURE_CONTINUE;
}

void wsh_again_offer(const struct wsh_boot *boot, const struct wsh_env *env,
                     unsigned char id[WSH_BOOT_UID_BYTES])
{
    struct wsh_env changed = env_make(env, boot->one_machine);
    struct wsh_uid uid;
    int rc;

    memset(id, 0, WSH_BOOT_UID_BYTES);
    if (again.unused) {
        memcpy(id, again.id, WSH_BOOT_UID_BYTES);
        return;
    }
    rc = wsh_random_fill(&uid.secret, sizeof uid.secret);
    if (!rc)
        rc = is_kept(env) ? wsh_uid_keeper_start(&uid, &changed) : wsh_uid_root_listen(&uid, &changed);
    if (!rc)
        memcpy(id, &uid, sizeof uid);
}

bool wsh_again_take(const struct wsh_boot *boot, const void *id, size_t len)
{
    static const unsigned char none[WSH_BOOT_UID_BYTES];

    if (len != sizeof again.id || !memcmp(id, none, sizeof none))
        return false;
    memcpy(again.id, id, sizeof again.id);
    again.pid = getpid();
    again.unused = true;
    again.my_pe = boot->my_pe;
    again.n_pes = boot->n_pes;
    return true;
}

/* The id of the shmem_init after this one. Round 0 is the caller's, and comes again. */
static int next_take(struct wsh_boot *boot, const struct wsh_env *env)
{
    unsigned char id[WSH_BOOT_UID_BYTES] = {0};
    void *bytes = NULL;
    size_t len = 0;
    int rc;

    if (!boot->my_pe)
        wsh_again_offer(boot, env, id);
    rc = boot->ops->publish(boot, 0, id, sizeof id);
    if (!rc)
        rc = boot->ops->lookup(boot, 0, 0, &bytes, &len);
    if (!rc)
        wsh_again_take(boot, bytes, len);
    free(bytes);
    return rc;
}

static int id_open(struct wsh_boot *boot)
{
    const struct wsh_boot_request request = {.method = WSH_BOOT_BY_UID,
                                             .id = again.id,
                                             .rank = again.my_pe,
                                             .n_ranks = again.n_pes,
                                             .again = true};
    struct wsh_uid uid;
    int rc = wsh_uid_read(&uid, again.id);

    again.unused = false;
    if (!rc && !again.my_pe && !is_kept(&again.env))
        rc = wsh_uid_root_serve(&uid);
    if (rc)
        return rc;
    boot->ops = &wsh_boot_uid_ops;
    boot->request = &request;
    rc = boot->ops->open(boot, &again.env);
    boot->request = NULL;
    return rc;
}

int wsh_again_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    int rc;

    if (!again.pid)
        return -ENODEV;
    if (again.pid != getpid()) {
        wsh_error("shmem_init in a forked child (pid %d of PE %d) is not possible; exec a program instead",
                  (int)getpid(), again.my_pe);
        return -EINVAL;
    }
    again.env = env_make(env, false);
    rc = id_open(boot);
    if (rc)
        return rc;
    rc = next_take(boot, &again.env);
    if (rc)
        boot->ops->close(boot);
    return rc;
}

/* The last barrier has a launcher let this process go that takes none back. */
int wsh_again_survive(struct wsh_boot *boot, const struct wsh_env *env)
{
    int rc = next_take(boot, env);

    if (!rc && !again.pid) {
        wsh_error(
            "SHMEM_ON_PE_FAILURE=continue is not possible: PE 0 cannot make the root of the job; see its "
            "message");
        rc = -ENOTSUP;
    }
    if (!rc)
        rc = boot->ops->barrier(boot, "shmem_finalize");
    boot->ops->close(boot);
    return rc ? rc : wsh_again_open(boot, env);
}
