/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serves a world from a thread of its own. It ends with the world. A forked child closes its copies of the sockets, so
 * that peers notice when the process itself ends.
 */
#define _GNU_SOURCE
#include "bootstrap/uid/root.h"

#include "bootstrap/uid/leave.h"
#include "bootstrap/uid/listen.h"
#include "bootstrap/uid/world.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/machine.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define STRANGERS_MAX 512    /* connections that have not shown that they know the secret */
#define STRANGER_SECONDS 20. /* for that */
#define TICK_MS 50
#define GIVE_UP_SECONDS 2
#define EVENTS 64

struct root {
    struct wsh_uid_world world;
    struct wsh_uid_listen at;
    struct wsh_uid_conn *conns; /* the newest first */
    int n_strangers;
    bool done;           /* what it owes to members of other processes is sent */
    bool used, unwanted; /* a PE has come; given up before that. Under the lock */
    double made;
    struct root *next;
};

/* Of this process. The list, and descriptors of its members, change under the lock only. */
static struct root *roots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;

static void fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void fork_child(void)
{
    for (const struct root *root = roots; root; root = root->next) {
        for (const struct wsh_uid_conn *conn = root->conns; conn; conn = conn->next)
            close(conn->fd);
        wsh_uid_listen_close(&root->at);
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
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* Takes it off the list and closes it. */
static void conn_drop(struct root *root, struct wsh_uid_conn **at)
{
    struct wsh_uid_conn *conn = *at;

    wsh_uid_world_lose(&root->world, conn);
    root->n_strangers -= !conn->known;
    pthread_mutex_lock(&lock);
    *at = conn->next;
    wsh_uid_conn_close(conn);
    pthread_mutex_unlock(&lock);
}

/* Those that are broken, and strangers that take too long. */
static void sweep(struct root *root)
{
    double now = wsh_uid_now();

    for (struct wsh_uid_conn **at = &root->conns; *at;) {
        struct wsh_uid_conn *conn = *at;

        if (conn->broken || (conn->rank < 0 && now > conn->came + STRANGER_SECONDS))
            conn_drop(root, at);
        else
            at = &conn->next;
    }
}

/* Makes room for one that comes now. */
static void drop_oldest_stranger(struct root *root)
{
    struct wsh_uid_conn **oldest = NULL;

    for (struct wsh_uid_conn **at = &root->conns; *at; at = &(*at)->next)
        if (!(*at)->known)
            oldest = at;
    if (oldest)
        conn_drop(root, oldest);
}

/* False: nobody waits there, or there is no descriptor even after a stranger's is closed. */
static bool accept_one(struct root *root, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct wsh_uid_conn *conn;

    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && root->n_strangers) {
        drop_oldest_stranger(root);
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        poll(NULL, 0, TICK_MS); /* until a descriptor is closed */
    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED;
    wsh_uid_socket_tune(fd);
    if (root->n_strangers >= STRANGERS_MAX)
        drop_oldest_stranger(root);
    pthread_mutex_lock(&lock);
    conn = wsh_uid_conn_open(fd, root->at.epoll);
    if (conn) {
        conn->next = root->conns;
        root->conns = conn;
        root->n_strangers++;
    }
    pthread_mutex_unlock(&lock);
    return true;
}

/* Whoever does not know the secret is closed without a word. */
static void hello_take(struct root *root, struct wsh_uid_conn *conn)
{
    const struct wsh_secret *secret = &root->world.id.secret;
    struct wsh_uid_proof proof = {.magic = conn->challenge.magic};

    if (!wsh_uid_hello_is_valid(secret, &conn->challenge, &conn->hello)) {
        conn->broken = true;
        return;
    }
    pthread_mutex_lock(&lock);
    root->used = !root->unwanted;
    conn->broken = root->unwanted;
    pthread_mutex_unlock(&lock);
    if (conn->broken)
        return;
    conn->known = true;
    root->n_strangers--;
    proof.tag = wsh_uid_proof_tag(secret, &conn->challenge, &conn->hello);
    wsh_uid_conn_send_bytes(conn, &proof, sizeof proof);
    wsh_uid_world_join(&root->world, conn);
}

static void conn_serve(struct root *root, struct wsh_uid_conn *conn)
{
    wsh_uid_conn_flush(conn);
    while (wsh_uid_conn_read(conn)) {
        if (conn->known)
            wsh_uid_world_take(&root->world, conn);
        else
            hello_take(root, conn);
        wsh_uid_conn_next(conn);
    }
}

/* Nothing is due at a time of its own while all are there, or nobody is. */
static int root_timeout(const struct root *root)
{
    const struct wsh_uid_world *world = &root->world;
    bool idle = (world->state == WSH_UID_RUNNING && !world->returned_until) ||
                (world->state == WSH_UID_COMING && !world->n_ranks);

    return idle && !root->n_strangers ? -1 : TICK_MS;
}

/* New connections come last: they may close others that events of this call are for. */
static void serve_events(struct root *root)
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

static void root_free(struct root *root)
{
    struct root **at = &roots;

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
    wsh_uid_listen_close(&root->at);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    wsh_uid_world_fini(&root->world);
    free(root);
}

static bool is_wanted(const struct root *root)
{
    bool wanted;

    pthread_mutex_lock(&lock);
    wanted = !root->unwanted;
    pthread_mutex_unlock(&lock);
    return wanted;
}

static void *root_run(void *arg)
{
    struct root *root = arg;

    while (root->world.state != WSH_UID_OVER && is_wanted(root)) {
        serve_events(root);
        sweep(root);
        wsh_uid_world_tick(&root->world);
        if (root->world.flushed != root->done) {
            pthread_mutex_lock(&lock);
            root->done = true;
            pthread_cond_broadcast(&changed);
            pthread_mutex_unlock(&lock);
        }
    }
    root_free(root);
    return NULL;
}

/* The program's handlers run in its own threads. */
static int start_thread(struct root *root)
{
    pthread_t thread;
    sigset_t all, old;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&thread, NULL, root_run, root);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err) {
        wsh_error("no thread for the root of a unique id: %s; raise the limit of processes (ulimit -u)",
                  wsh_strerror(err));
        return -err;
    }
    pthread_setname_np(thread, "shmem-uid-root");
    pthread_detach(thread);
    return 0;
}

static int root_open(struct root *root, const struct wsh_env *env)
{
    struct wsh_uid *uid = &root->world.id;
    int rc;

    root->world.join_seconds = env->uid_seconds > 0 ? env->uid_seconds : WSH_UID_FOR_EVER;
    uid->machine = wsh_machine_id();
    uid->pid = (uint32_t)getpid();
    rc = wsh_uid_listen_open(&root->at, uid, env);
    wsh_uid_seal(uid);
    return rc;
}

/* Under the lock. How many roots end that no PE has come to for longer than PEs wait for one. */
static int give_up_unused(void)
{
    double now = wsh_uid_now();
    int n = 0;

    for (struct root *root = roots; root; root = root->next) {
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
    for (const struct root *root = roots; root; root = root->next)
        if (root->unwanted)
            return true;
    return false;
}

/* Ids that nobody uses cost descriptors and threads, which this new one may need. */
static void make_room(void)
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

static int out_of_memory(void)
{
    wsh_error("bootstrap: out of memory (%zu bytes)", sizeof(struct root));
    return -ENOMEM;
}

int wsh_uid_root_start(struct wsh_uid *uid, const struct wsh_env *env, int n_ranks, const bool *left)
{
    struct root *root = calloc(1, sizeof *root);
    int rc;

    if (!root)
        return out_of_memory();
    make_room();
    root->at.epoll = -1;
    root->made = wsh_uid_now();
    root->used = left != NULL;
    root->world.id.secret = uid->secret;
    rc = left ? wsh_uid_world_inherit(&root->world, n_ranks, left) : 0;
    rc = rc ? out_of_memory() : root_open(root, env);
    *uid = root->world.id;
    pthread_mutex_lock(&lock);
    root->next = roots;
    roots = root;
    pthread_mutex_unlock(&lock);
    if (!rc)
        rc = start_thread(root);
    if (rc)
        root_free(root);
    return rc;
}

/* The root of that id, unless it has ended or has nothing more to send. */
static const struct root *root_busy(const struct wsh_uid *uid)
{
    for (const struct root *root = roots; root; root = root->next)
        if (!memcmp(&root->world.id.secret, &uid->secret, sizeof uid->secret))
            return root->done ? NULL : root;
    return NULL;
}

void wsh_uid_root_wait(const struct wsh_uid *uid, double seconds)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&lock);
    while (root_busy(uid) && !rc)
        rc = pthread_cond_timedwait(&changed, &lock, &until);
    pthread_mutex_unlock(&lock);
}
