/* SPDX-License-Identifier: BSD-3-Clause */
/* A forked child closes its copies of the sockets, so that peers notice when the process itself ends. */
#define _GNU_SOURCE
#include "bootstrap/uid/roots.h"

#include "bootstrap/uid/root.h"
#include "bootstrap/uid/survive/members.h"
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define GIVE_UP_SECONDS 2

/* The list, and descriptors of its members, change under the lock only. */
static struct wsh_uid_root *roots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;

void wsh_uid_roots_lock(void)
{
    pthread_mutex_lock(&lock);
}

void wsh_uid_roots_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void sockets_close(const struct wsh_uid_root *root)
{
    if (root->last_root >= 0)
        close(root->last_root);
    wsh_uid_listen_close(&root->at);
}

static void fork_child(void)
{
    for (const struct wsh_uid_root *root = roots; root; root = root->next) {
        for (const struct wsh_uid_conn *conn = root->conns; conn; conn = conn->next)
            close(conn->fd);
        sockets_close(root);
    }
    roots = NULL;
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_atfork(wsh_uid_roots_lock, wsh_uid_roots_unlock, fork_child);
}

struct wsh_uid_root *wsh_uid_roots_add(const struct wsh_secret *secret, double join_seconds)
{
    struct wsh_uid_root *root = calloc(1, sizeof *root);

    if (!root)
        return NULL;
    root->at.epoll = root->last_root = root->maker = -1;
    root->made = wsh_uid_now();
    root->world.id.secret = *secret;
    root->world.join_seconds = join_seconds;
    pthread_mutex_lock(&lock);
    root->next = roots;
    roots = root;
    pthread_mutex_unlock(&lock);
    return root;
}

void wsh_uid_roots_remove(struct wsh_uid_root *root)
{
    struct wsh_uid_root **at = &roots;

    pthread_mutex_lock(&lock);
    while (*at && *at != root)
        at = &(*at)->next;
    if (*at)
        *at = root->next;
    while (root->conns) {
        struct wsh_uid_conn *conn = root->conns;

        root->conns = conn->next;
        wsh_uid_conn_close(conn);
    }
    sockets_close(root);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    wsh_uid_world_survive_fini(&root->world);
    wsh_uid_world_fini(&root->world);
    free(root->left);
    free(root);
}

struct wsh_uid_root *wsh_uid_roots_find(const struct wsh_uid *uid)
{
    struct wsh_uid_root *root = roots;

    while (root && memcmp(&root->world.id.secret, &uid->secret, sizeof uid->secret))
        root = root->next;
    return root;
}

void wsh_uid_roots_done(struct wsh_uid_root *root)
{
    pthread_mutex_lock(&lock);
    root->done = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void wsh_uid_root_follow(const struct wsh_uid *uid, int last_root, const bool *left)
{
    struct wsh_uid_root *root;
    bool *copy;

    pthread_mutex_lock(&lock);
    root = wsh_uid_roots_find(uid);
    copy = root ? calloc((size_t)root->world.n_ranks, sizeof *copy) : NULL;
    if (copy) {
        memcpy(copy, left, (size_t)root->world.n_ranks * sizeof *copy);
        root->left = copy;
        root->last_root = last_root;
    } else {
        close(last_root);
    }
    pthread_mutex_unlock(&lock);
}

static bool is_busy(const struct wsh_uid *uid)
{
    const struct wsh_uid_root *root = wsh_uid_roots_find(uid);

    return root && !root->done;
}

void wsh_uid_root_wait(const struct wsh_uid *uid, double seconds)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&lock);
    while (is_busy(uid) && !rc)
        rc = pthread_cond_timedwait(&changed, &lock, &until);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. How many roots end that no PE has come to for longer than PEs wait for one. */
static int give_up_unused(void)
{
    double now = wsh_uid_now();
    int n = 0;

    for (struct wsh_uid_root *root = roots; root; root = root->next) {
        if (root->used || root->unwanted || now < root->made + root->world.join_seconds)
            continue;
        root->unwanted = true;
        n++;
        for (int i = 0; i < root->at.n; i++)
            shutdown(root->at.listener[i], SHUT_RDWR); /* wakes its thread */
    }
    return n;
}

static bool some_unwanted(void)
{
    for (const struct wsh_uid_root *root = roots; root; root = root->next)
        if (root->unwanted)
            return true;
    return false;
}

/* Each costs descriptors and a thread. */
void wsh_uid_roots_make_room(void)
{
    struct timespec until;
    int n, rc = 0;

    if (wsh_uid_listen_can())
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += GIVE_UP_SECONDS;
    pthread_mutex_lock(&lock);
    n = give_up_unused();
    while (some_unwanted() && !rc)
        rc = pthread_cond_timedwait(&changed, &lock, &until);
    pthread_mutex_unlock(&lock);
    if (n)
        wsh_warn("open files have run out, and %d unique ids that no PE has come to within "
                 "SHMEM_BOOTSTRAP_UID_SECONDS "
                 "are given up",
                 n);
}
