/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves a world from a thread of its own, which ends with the world. */
#define _GNU_SOURCE
#include "bootstrap/uid/root.h"

#include "bootstrap/uid/leave.h"
#include "bootstrap/uid/roots.h"
#include "bootstrap/uid/survive/members.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/machine.h"
#include "base/process/signals.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define UNKNOWN_MAX 512     /* connections that have not shown that they know the secret */
#define UNKNOWN_SECONDS 20. /* for that */
#define TICK_MS 50
#define EVENTS 64

/* Takes it off the list and closes it. */
static void conn_drop(struct wsh_uid_root *root, struct wsh_uid_conn **at)
{
    struct wsh_uid_conn *conn = *at;

    if (!wsh_uid_world_survives(&root->world, conn))
        wsh_uid_world_lose(&root->world, conn);
    root->n_unknown -= !conn->known;
    wsh_uid_roots_lock();
    *at = conn->next;
    wsh_uid_conn_close(conn);
    wsh_uid_roots_unlock();
}

/* Those that are broken, and strangers that take too long. */
static void sweep(struct wsh_uid_root *root)
{
    double now = wsh_uid_now();

    for (struct wsh_uid_conn **at = &root->conns; *at;) {
        struct wsh_uid_conn *conn = *at;

        if (conn->broken || (conn->rank < 0 && now > conn->came + UNKNOWN_SECONDS))
            conn_drop(root, at);
        else
            at = &conn->next;
    }
}

/* Makes room for one that comes now. */
static void drop_oldest_unknown(struct wsh_uid_root *root)
{
    struct wsh_uid_conn **oldest = NULL;

    for (struct wsh_uid_conn **at = &root->conns; *at; at = &(*at)->next)
        if (!(*at)->known)
            oldest = at;
    if (oldest)
        conn_drop(root, oldest);
}

/* False: nobody waits there, or there is no descriptor even after a stranger's is closed. */
static bool accept_one(struct wsh_uid_root *root, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct wsh_uid_conn *conn;

    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && root->n_unknown) {
        drop_oldest_unknown(root);
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        poll(NULL, 0, TICK_MS); /* until a descriptor is closed */
    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED;
    wsh_uid_socket_tune(fd);
    if (root->n_unknown >= UNKNOWN_MAX)
        drop_oldest_unknown(root);
    wsh_uid_roots_lock();
    conn = wsh_uid_conn_open(fd, root->at.epoll);
    if (conn) {
        conn->next = root->conns;
        root->conns = conn;
        root->n_unknown++;
    }
    wsh_uid_roots_unlock();
    return true;
}

/* Whoever does not know the secret is closed without a word. */
static void hello_take(struct wsh_uid_root *root, struct wsh_uid_conn *conn)
{
    const struct wsh_secret *secret = &root->world.id.secret;
    struct wsh_uid_proof proof = {.magic = conn->challenge.magic};

    if (!wsh_uid_hello_is_valid(secret, &conn->challenge, &conn->hello)) {
        conn->broken = true;
        return;
    }
    wsh_uid_roots_lock();
    root->used = !root->unwanted;
    conn->broken = root->unwanted;
    wsh_uid_roots_unlock();
    if (conn->broken)
        return;
    conn->known = true;
    root->n_unknown--;
    proof.tag = wsh_uid_proof_tag(secret, &conn->challenge, &conn->hello);
    wsh_uid_conn_send_bytes(conn, &proof, sizeof proof);
    if (!wsh_uid_world_returns(&root->world, conn))
        wsh_uid_world_join(&root->world, conn);
}

static void conn_serve(struct wsh_uid_root *root, struct wsh_uid_conn *conn)
{
    wsh_uid_conn_flush(conn);
    while (wsh_uid_conn_read(conn)) {
        if (!conn->known)
            hello_take(root, conn);
        else if (!wsh_uid_world_leave_take(&root->world, conn) &&
                 !wsh_uid_world_survive_take(&root->world, conn))
            wsh_uid_world_take(&root->world, conn);
        wsh_uid_conn_next(conn);
    }
}

/* Nothing is due at a time of its own while all are there, or nobody is. */
static int root_timeout(const struct wsh_uid_root *root)
{
    const struct wsh_uid_world *world = &root->world;
    bool idle = (world->state == WSH_UID_RUNNING && !world->returned_until && !world->lease) ||
                (world->state == WSH_UID_COMING && !world->n_ranks && root->maker < 0);

    return idle && !root->n_unknown ? -1 : TICK_MS;
}

/* New connections come last: they may close others that events of this call are for. */
static void serve_events(struct wsh_uid_root *root)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(root->at.epoll, events, EVENTS, root_timeout(root));

    for (int i = 0; i < n; i++)
        if (!wsh_uid_listen_is(&root->at, events[i].data.ptr))
            conn_serve(root, events[i].data.ptr);
    for (int i = 0; i < n; i++)
        if (wsh_uid_listen_is(&root->at, events[i].data.ptr))
            for (int more = EVENTS; more && accept_one(root, *(int *)events[i].data.ptr); more--)
                continue;
}

/* Who has left the last root; and when that ends, those that are not here by then are dead. */
static void take_over(struct wsh_uid_root *root)
{
    struct pollfd last = {.events = POLLRDHUP};
    bool *left;

    wsh_uid_roots_lock();
    last.fd = root->last_root;
    left = root->left;
    root->left = NULL;
    wsh_uid_roots_unlock();
    if (left)
        wsh_uid_world_inherit_left(&root->world, left);
    free(left);
    if (last.fd < 0 || (root->world.returned_until && !poll(&last, 1, 0)))
        return;
    wsh_uid_world_hurry(&root->world);
    wsh_uid_roots_lock();
    root->last_root = -1;
    close(last.fd);
    wsh_uid_roots_unlock();
}

static bool is_wanted(const struct wsh_uid_root *root)
{
    bool wanted;

    wsh_uid_roots_lock();
    wanted = !root->unwanted;
    wsh_uid_roots_unlock();
    return wanted;
}

/* In a process of its own: while a PE is there, or may still come, which is as long as the maker lives. */
static bool has_reason(const struct wsh_uid_root *root)
{
    struct pollfd maker = {root->maker, POLLIN, 0};

    return root->maker < 0 || root->conns || !poll(&maker, 1, 0);
}

static void *root_run(void *arg)
{
    struct wsh_uid_root *root = arg;

    while (root->world.state != WSH_UID_OVER && is_wanted(root) && has_reason(root)) {
        serve_events(root);
        sweep(root);
        take_over(root);
        wsh_uid_world_succeed(&root->world);
        wsh_uid_world_survive_tick(&root->world);
        wsh_uid_world_tick(&root->world);
        if (root->world.flushed != root->done)
            wsh_uid_roots_done(root);
    }
    wsh_uid_roots_remove(root);
    return NULL;
}

/* The program's handlers run in its own threads. */
static int start_thread(struct wsh_uid_root *root)
{
    pthread_t thread;
    sigset_t before;
    int err;

    wsh_signals_block(&before);
    err = pthread_create(&thread, NULL, root_run, root);
    wsh_signals_restore(&before);
    if (err) {
        wsh_error("no thread for the root of a unique id: %s; raise the limit of processes (ulimit -u)",
                  wsh_strerror(err));
        return -err;
    }
    pthread_setname_np(thread, "shmem-uid-root");
    pthread_detach(thread);
    return 0;
}

static int root_open(struct wsh_uid_root *root, const struct wsh_env *env)
{
    struct wsh_uid *uid = &root->world.id;
    int rc;

    uid->machine = wsh_machine_id();
    uid->pid = (uint32_t)getpid();
    rc = wsh_uid_listen_open(&root->at, uid, env);
    wsh_uid_seal(uid);
    return rc;
}

static int out_of_memory(void)
{
    wsh_error("bootstrap: out of memory (%zu bytes)", sizeof(struct wsh_uid_root));
    return -ENOMEM;
}

/* left: as in wsh_uid_root_start. */
static int root_make(struct wsh_uid *uid, const struct wsh_env *env, int n_ranks, const bool *left,
                     struct wsh_uid_root **made)
{
    struct wsh_uid_root *root;
    int rc;

    wsh_uid_roots_make_room();
    root = wsh_uid_roots_add(&uid->secret, env->uid_seconds > 0 ? env->uid_seconds : WSH_UID_FOR_EVER);
    if (!root)
        return out_of_memory();
    root->used = left != NULL;
    rc = left ? wsh_uid_world_inherit(&root->world, n_ranks, left) : 0;
    rc = rc ? out_of_memory() : root_open(root, env);
    *uid = root->world.id;
    *made = root;
    if (rc)
        wsh_uid_roots_remove(root);
    return rc;
}

static int root_serve(struct wsh_uid_root *root)
{
    int rc = start_thread(root);

    if (rc)
        wsh_uid_roots_remove(root);
    return rc;
}

int wsh_uid_root_listen(struct wsh_uid *uid, const struct wsh_env *env)
{
    struct wsh_uid_root *root;

    return root_make(uid, env, 0, NULL, &root);
}

int wsh_uid_root_serve(const struct wsh_uid *uid)
{
    struct wsh_uid_root *root;

    wsh_uid_roots_lock();
    root = wsh_uid_roots_find(uid);
    wsh_uid_roots_unlock();
    if (root)
        return root_serve(root);
    wsh_error("bootstrap: this process listens no more for its unique id; start the program again");
    return -ENOENT;
}

int wsh_uid_root_start(struct wsh_uid *uid, const struct wsh_env *env, int n_ranks, const bool *left)
{
    struct wsh_uid_root *root;
    int rc = root_make(uid, env, n_ranks, left, &root);

    return rc ? rc : root_serve(root);
}

void wsh_uid_root_keep(const struct wsh_uid *uid, int maker, double lease)
{
    struct wsh_uid_root *root;

    wsh_uid_roots_lock();
    root = wsh_uid_roots_find(uid);
    wsh_uid_roots_unlock();
    if (!root)
        return;
    root->maker = maker;
    root->world.lease = lease;
    root_run(root);
}
