/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes who has left, moves this PE to another root, and starts one where it is asked to. */
#define _GNU_SOURCE
#include "bootstrap/uid/move.h"

#include "bootstrap/uid/join.h"
#include "bootstrap/uid/root.h"
#include "base/err.h"
#include "base/log.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void note_left(struct wsh_uid_client *client, uint32_t rank)
{
    if (!client->left || rank >= (uint32_t)client->n_ranks)
        return;
    pthread_mutex_lock(&client->mutex);
    if (rank == (uint32_t)client->rank) {
        client->gone = client->leaving = true;
    } else {
        /* Relaxed: who asks looks again. */
        __atomic_store_n(&client->left[rank], true, __ATOMIC_RELAXED);
        __atomic_store_n(&client->some_left, true, __ATOMIC_RELAXED);
        wsh_uid_client_lacks(client);
    }
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->mutex);
}

/*
 * The thread of the new root takes this PE in like every other one. Where this PE has said meanwhile that it leaves,
 * the last root asks another one, and nobody would come to a root here.
 */
static void succeed(struct wsh_uid_client *client)
{
    struct wsh_uid uid = client->uid;
    int rc = 0;

    pthread_mutex_lock(&client->sending);
    if (!client->departs)
        rc = wsh_uid_root_start(&uid, client->env, client->n_ranks, client->left);
    if (!client->departs && !rc)
        wsh_uid_client_send(client, WSH_UID_MOVE, 0, &uid, sizeof uid);
    client->succeeds = !client->departs && !rc;
    pthread_mutex_unlock(&client->sending);
    if (rc)
        wsh_uid_client_end(client, 1, "");
}

/* What the last root has not answered is said again; it has got no body. */
static void send_again(struct wsh_uid_client *client)
{
    bool asks, departs;
    uint32_t type, arg;

    pthread_mutex_lock(&client->mutex);
    asks = client->awaited && !client->answered && !client->lacking;
    departs = client->departs && !client->gone;
    type = client->awaited;
    arg = client->arg;
    pthread_mutex_unlock(&client->mutex);
    if (asks)
        wsh_uid_client_send(client, type, arg, NULL, 0);
    if (departs)
        wsh_uid_client_send(client, WSH_UID_LEFT, (uint32_t)client->rank, NULL, 0);
    if (client->abort_status)
        wsh_uid_client_send(client, WSH_UID_ABORT, (uint32_t)client->abort_status - 1, NULL, 0);
}

/* Where the new root is in this process, it keeps the connection to the last one. */
static void follow(struct wsh_uid_client *client, const struct wsh_uid *uid)
{
    int last = client->succeeds ? fcntl(client->fd, F_DUPFD_CLOEXEC, 0) : -1;

    if (last >= 0)
        wsh_uid_root_follow(uid, last, client->left);
    client->succeeds = false;
}

static void move(struct wsh_uid_client *client, const char *body)
{
    struct wsh_uid uid;
    int fd;

    if (client->gone) { /* the last root waits for no more than the end of the connection */
        shutdown(client->fd, SHUT_RDWR);
        return;
    }
    memcpy(&uid, body, sizeof uid);
    if (uid.n_addresses > WSH_UID_ADDRESSES)
        uid.n_addresses = WSH_UID_ADDRESSES;
    uid.secret = client->uid.secret;
    fd = wsh_uid_rejoin(&uid, client->rank, client->n_ranks, client->env);
    if (fd < 0) {
        if (client->lost)
            client->lost(1);
        return;
    }
    follow(client, &uid);
    pthread_mutex_lock(&client->sending);
    dup3(fd, client->fd, O_CLOEXEC);
    close(fd);
    send_again(client);
    pthread_mutex_unlock(&client->sending);
    wsh_info(WSH_SUB_BOOTSTRAP, "PE that made the unique id has left; another one serves");
}

bool wsh_uid_move_take(struct wsh_uid_client *client, const struct wsh_uid_head *head, const char *body)
{
    switch (head->type) {
    case WSH_UID_LEFT: note_left(client, head->arg); return true;
    case WSH_UID_SUCCEED: succeed(client); return true;
    case WSH_UID_MOVE: move(client, body); return true;
    default: return false;
    }
}

void wsh_uid_move_leave(struct wsh_uid_client *client, double seconds)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&client->sending);
    client->departs = true;
    rc = wsh_uid_client_send(client, WSH_UID_LEFT, (uint32_t)client->rank, NULL, 0);
    pthread_mutex_unlock(&client->sending);
    pthread_mutex_lock(&client->mutex);
    while (!rc && !client->gone && !client->failed)
        rc = pthread_cond_timedwait(&client->changed, &client->mutex, &until);
    client->leaving = true;
    pthread_mutex_unlock(&client->mutex);
}

bool wsh_uid_move_has_left(const struct wsh_uid_client *client, int pe)
{
    if (!__atomic_load_n(&client->some_left, __ATOMIC_RELAXED))
        return false;
    return pe < 0 || __atomic_load_n(&client->left[pe], __ATOMIC_RELAXED);
}
