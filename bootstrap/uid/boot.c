/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap by a unique id: no launcher, but a process that has made the id and serves as root (uid/root.c), to
 * which every PE holds a connection. Exchanges go to the root, which sends all of them to all at once,
 * blobs packed by host.
 */
#define _GNU_SOURCE
#include "bootstrap/methods.h"

#include "bootstrap/blob/rounds.h"
#include "bootstrap/uid/client.h"
#include "bootstrap/uid/join.h"
#include "bootstrap/uid/survive/keeper.h"
#include "bootstrap/uid/move.h"
#include "bootstrap/uid/survive/news.h"
#include "bootstrap/uid/root.h"
#include "base/err.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT_SECONDS 5.   /* this process' root has as long to send what it still owes */
#define LEAVE_SECONDS 10. /* for the root to learn that this PE leaves */
#define MOVE_SECONDS 30.  /* for all others to move to another root, if the root is here */
#define LAUNCHER_SECONDS \
    1.5 /* for a launcher to end a job in which a PE has failed, as mpirun does; hydra does not */

struct joined {
    struct wsh_uid uid;
    struct wsh_uid_client *client;
    struct wsh_rounds rounds;
};

int wsh_boot_uid_make(void *id, const struct wsh_env *env)
{
    struct wsh_uid uid;
    int rc = wsh_random_fill(&uid.secret, sizeof uid.secret);

    if (rc)
        wsh_error("no random bytes from the kernel: getrandom: %s", wsh_strerror(rc));
    else if (env->on_pe_failure == WSH_ON_PE_FAILURE_CONTINUE)
        rc = wsh_uid_keeper_start(&uid, env);
    else
        rc = wsh_uid_root_start(&uid, env, 0, NULL);
    if (rc)
        return rc;
    memset(id, 0, WSH_BOOT_UID_BYTES);
    memcpy(id, &uid, sizeof uid);
    return 0;
}

static int out_of_memory(size_t len)
{
    wsh_error("bootstrap: out of memory (%zu bytes)", len);
    return -ENOMEM;
}

/* The last world of this process: its root may listen no more, so a second use would only wait in vain. */
static struct wsh_secret used;

static int request_check(const struct wsh_boot_request *request, struct wsh_uid *uid)
{
    int rc = wsh_uid_read(uid, request->id);

    if (rc)
        return rc;
    if (wsh_uid_client_is_forked()) {
        wsh_error("shmemx_init_attr in a forked child of a PE is not possible; exec a program instead, or "
                  "fork before "
                  "the parent starts");
        return -EINVAL;
    }
    if (request->n_ranks < 1 || request->n_ranks > WSH_UID_PES_MAX || request->rank < 0 ||
        request->rank >= request->n_ranks) {
        wsh_error("start by unique id: rank %d of %d is not possible; ranks are 0 to n_ranks - 1",
                  request->rank, request->n_ranks);
        return -EINVAL;
    }
    if (memcmp(&used, &uid->secret, sizeof used))
        return 0;
    wsh_error("this unique id has started a world in this process already; make a new one "
              "(shmemx_get_uniqueid) for "
              "each world");
    return -EINVAL;
}

/* Where only this PE goes on when another one fails, the others do not know it: the runtime refuses that. */
static int mode_check(const struct wsh_env *env, int rank, const struct wsh_uid_start *start)
{
    if (!start->lease_ms || env->on_pe_failure == WSH_ON_PE_FAILURE_CONTINUE)
        return 0;
    wsh_error(
        "SHMEM_ON_PE_FAILURE is abort at PE %d and continue in the process that made the unique id; set "
        "it alike in all",
        rank);
    return -EINVAL;
}

static void boot_describe(struct wsh_boot *boot, const struct wsh_uid *uid, const struct wsh_uid_start *start)
{
    const struct joined *joined = boot->priv;

    boot->failures = wsh_uid_news_failures(joined->client);
    boot->news_seconds = 2e-3 * start->lease_ms;
    boot->my_pe = boot->request->rank;
    boot->n_pes = boot->request->n_ranks;
    boot->local_rank = start->local_rank;
    boot->local_size = start->local_size;
    boot->one_machine = start->one_machine;
    boot->generation = 1; /* each world has a secret of its own */
    boot->has_secret = true;
    wsh_uid_job_secret(uid, &boot->secret);
    snprintf(boot->launcher, sizeof boot->launcher, "a unique id");
}

static int joined_open(struct joined *joined, struct wsh_boot *boot, const struct wsh_env *env)
{
    const struct wsh_boot_request *request = boot->request;
    struct wsh_uid_start start;
    int rc = request_check(request, &joined->uid), fd;

    if (rc)
        return rc;
    fd = wsh_uid_join(&joined->uid, request->rank, request->n_ranks, request->again, env, &start);
    if (fd < 0)
        return fd;
    rc = mode_check(env, request->rank, &start);
    if (rc) {
        close(fd);
        return rc;
    }
    used = joined->uid.secret;
    joined->client =
        wsh_uid_client_open(fd, request->n_ranks, env->hang_seconds, boot->lost,
                            request->again ? LAUNCHER_SECONDS : 0, 1e-3 * start.lease_ms, wsh_uid_move_take);
    if (!joined->client)
        return -ENOMEM;
    rc = wsh_uid_client_describe(joined->client, &joined->uid, request->rank, request->n_ranks, env);
    if (rc) {
        wsh_uid_client_close(joined->client);
        return rc;
    }
    boot_describe(boot, &joined->uid, &start);
    return 0;
}

static int uid_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    struct joined *joined = calloc(1, sizeof *joined);
    int rc;

    if (!joined)
        return out_of_memory(sizeof *joined);
    boot->priv = joined;
    rc = joined_open(joined, boot, env);
    if (rc) {
        free(joined);
        boot->priv = NULL;
        return rc;
    }
    wsh_rounds_init(&joined->rounds);
    return 0;
}

static void uid_close(struct wsh_boot *boot)
{
    struct joined *joined = boot->priv;

    boot->failures = NULL;
    wsh_uid_client_close(joined->client);
    wsh_uid_root_wait(&joined->uid, ROOT_SECONDS);
    wsh_rounds_fini(&joined->rounds);
    free(joined);
    boot->priv = NULL;
}

static int uid_publish(struct wsh_boot *boot, int round, const void *blob, size_t len)
{
    struct joined *joined = boot->priv;
    struct wsh_host_blobs blobs;
    size_t all_len;
    char *all;
    int rc = wsh_uid_client_request(joined->client, WSH_UID_PUBLISH, (uint32_t)round, blob, len,
                                    "exchange of addresses", &all, &all_len);

    if (!rc)
        rc = wsh_host_blobs_open(&blobs, all, all_len, boot->n_pes);
    return rc ? rc : wsh_rounds_keep(&joined->rounds, round, &blobs);
}

static int uid_lookup(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len)
{
    struct joined *joined = boot->priv;

    return wsh_rounds_find(&joined->rounds, round, pe, blob, len);
}

static int uid_exchange_host(struct wsh_boot *boot, const void *mine, size_t len, void *all)
{
    struct joined *joined = boot->priv;
    size_t parts_len, part_len;
    char *parts;
    int rc = wsh_uid_client_request(joined->client, WSH_UID_HOST, 0, mine, len, "exchange on this host",
                                    &parts, &parts_len);

    for (int i = 0; !rc && i < boot->local_size; i++) {
        const char *part = wsh_uid_part(parts, parts_len, boot->local_size, i, &part_len);

        if (part && part_len == len)
            memcpy((char *)all + (size_t)i * len, part, len);
        else
            rc = -EPROTO;
    }
    if (rc == -EPROTO)
        wsh_error(
            "the PEs of this host exchange data of different lengths; do all PEs run the same program?");
    if (!rc || rc == -EPROTO)
        free(parts);
    return rc;
}

static int uid_barrier(struct wsh_boot *boot, const char *what)
{
    struct joined *joined = boot->priv;
    char *none = NULL;
    size_t len;
    bool leave = !strcmp(what, WSH_BOOT_AT_EXIT);
    int rc = wsh_uid_client_request(joined->client, leave ? WSH_UID_LEAVE : WSH_UID_BARRIER,
                                    !strcmp(what, "shmem_finalize"), NULL, 0, what, &none, &len);

    if (!rc && !strcmp(what, "shmem_init"))
        wsh_uid_client_started(joined->client);
    free(none);
    return rc;
}

static void uid_leave(struct wsh_boot *boot)
{
    struct joined *joined = boot->priv;

    wsh_uid_move_leave(joined->client, LEAVE_SECONDS);
    wsh_uid_root_wait(&joined->uid, MOVE_SECONDS);
}

static bool uid_has_left(struct wsh_boot *boot, int pe)
{
    return wsh_uid_move_has_left(((struct joined *)boot->priv)->client, pe);
}

static uint32_t uid_failed_at(struct wsh_boot *boot, int pe)
{
    return wsh_uid_news_failed_at(((struct joined *)boot->priv)->client, pe);
}

static void *uid_board(struct wsh_boot *boot, size_t len)
{
    return wsh_uid_news_board(((struct joined *)boot->priv)->client, len);
}

static void uid_board_tell(struct wsh_boot *boot, size_t at, size_t len)
{
    wsh_uid_news_tell(((struct joined *)boot->priv)->client, at, len);
}

static void uid_board_decide(struct wsh_boot *boot, size_t at, uint64_t before, uint64_t after)
{
    wsh_uid_news_decide(((struct joined *)boot->priv)->client, at, before, after);
}

static void uid_abort(struct wsh_boot *boot, int status)
{
    wsh_uid_client_abort(((struct joined *)boot->priv)->client, status);
}

const struct wsh_boot_ops wsh_boot_uid_ops = {
    .name = "uid",
    .open = uid_open,
    .close = uid_close,
    .publish = uid_publish,
    .lookup = uid_lookup,
    .keeps = true,
    .exchange_host = uid_exchange_host,
    .barrier = uid_barrier,
    .leave = uid_leave,
    .has_left = uid_has_left,
    .failed_at = uid_failed_at,
    .board = uid_board,
    .board_tell = uid_board_tell,
    .board_decide = uid_board_decide,
    .abort = uid_abort,
};
