/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE's connection to the root of its unique id, and the thread that reads from it. */
#ifndef WSH_BOOTSTRAP_UID_CLIENT_H
#define WSH_BOOTSTRAP_UID_CLIENT_H

#include "bootstrap/boot.h"
#include "bootstrap/uid/wire.h"

#include "base/env/env.h"

#include <pthread.h>

struct wsh_uid_client;
struct wsh_uid_news;

/* Takes a message that is no answer; false: it is one. In the client's thread. */
typedef bool wsh_uid_take_fn(struct wsh_uid_client *client, const struct wsh_uid_head *head,
                             const char *body);

struct wsh_uid_client {
    int fd, n_pes;
    void (*lost)(int status);
    wsh_uid_take_fn *take;
    double hang_seconds, launcher_seconds;
    pthread_t watcher;

    /* Who this is, for another root; set once, before anybody can leave. */
    struct wsh_uid uid;
    int rank, n_ranks;
    const struct wsh_env *env;
    struct wsh_uid_news *news; /* survive/news.h; NULL: a PE that fails ends the job */

    pthread_mutex_t sending; /* a message goes whole to one root; taken before `mutex` */
    pthread_mutex_t mutex;   /* of all below */
    pthread_cond_t changed;
    uint32_t awaited, arg; /* the answer that is waited for; 0 = none */
    const char *what;      /* the routine that waits for it */
    double waited;
    char *body;
    size_t len;
    bool answered;
    bool started;       /* all have come through shmem_init: from now on a failure ends the process */
    bool leaving;       /* this PE has no more need of the root */
    bool *left;         /* [rank] has left the job: relaxed atomics, read by any thread */
    bool some_left;     /* likewise */
    bool lacking;       /* what is awaited needs one that has left */
    bool departs, gone; /* this PE leaves itself; the root knows */
    bool succeeds;      /* its process has become the root, to which all have yet to move. The thread's */
    int abort_status;   /* + 1: this PE ends the job */
    bool failed, taken; /* before that: the routine that waits returns an error; it has logged it */
    char text[WSH_UID_TEXT_MAX];
};

/* This process is the child of one that was a PE when it forked. */
bool wsh_uid_client_is_forked(void);

/*
 * Takes over fd, and starts the thread, for a world of n_pes. Where a PE fails a launcher, if there is one, has so many
 * seconds to end this process too, and to report the first one's status. take: wsh_uid_move_take. NULL after one line;
 * fd is closed then. lease: of survive/news.h; 0: there is none.
 */
struct wsh_uid_client *wsh_uid_client_open(int fd, int n_pes, double hang_seconds, void (*lost)(int status),
                                           double launcher_seconds, double lease, wsh_uid_take_fn *take);
void wsh_uid_client_close(struct wsh_uid_client *client);

/*
 * Sends a message and waits for the root's answer, which comes once all others have sent the same. *answer is malloc'd.
 * `what` names it in messages. 0, or a negative errno after one line.
 */
int wsh_uid_client_request(struct wsh_uid_client *client, enum wsh_uid_type type, uint32_t arg,
                           const void *body, size_t len, const char *what, char **answer, size_t *answer_len);

/* Who this is, which a new root is told. Once, within shmem_init; 0 or -ENOMEM after one line. */
int wsh_uid_client_describe(struct wsh_uid_client *client, const struct wsh_uid *uid, int rank, int n_ranks,
                            const struct wsh_env *env);

/* One line: what is waited for, so many seconds, and for whom. */
void wsh_uid_say_late(const char *what, double waited, const char *text);

/* All have come through shmem_init. */
void wsh_uid_client_started(struct wsh_uid_client *client);

/* Ends the wait of whoever is in an exchange that needs a PE that has left. For the thread, under `mutex`. */
void wsh_uid_client_lacks(struct wsh_uid_client *client);
/* Under `sending`. */
int wsh_uid_client_send(struct wsh_uid_client *client, enum wsh_uid_type type, uint32_t arg, const void *body,
                        size_t len);
/* The job has ended, or this PE cannot stay in it: one line, unless there is no text. In the thread. */
void wsh_uid_client_end(struct wsh_uid_client *client, int status, const char *text);

/* Has the root end the job, this process too; returns where that has not happened within two seconds. */
void wsh_uid_client_abort(struct wsh_uid_client *client, int status);

#endif
