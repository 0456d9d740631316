/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE's connection to the root of its unique id, and the thread that reads from it. */
#ifndef WSH_BOOTSTRAP_UID_CLIENT_H
#define WSH_BOOTSTRAP_UID_CLIENT_H

#include "bootstrap/boot.h"
#include "bootstrap/uid_wire.h"

#include <pthread.h>

struct wsh_uid_client {
    int fd, n_pes;
    void (*lost)(int status);
    double hang_seconds;
    pthread_t watcher;

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    uint32_t awaited, arg; /* the answer that is waited for; 0 = none */
    const char *what;      /* … and in which routine */
    double waited;
    char *body;
    size_t len;
    bool answered;
    bool started;       /* all have come through shmem_init: from now on a failure ends the process */
    bool leaving;       /* this PE has no more need of the root */
    bool failed, taken; /* before that: the routine that waits returns an error; it has logged it */
    char text[WSH_UID_TEXT_MAX];
};

/* This process is the child of one that was a PE when it forked. */
bool wsh_uid_client_is_forked(void);

/* Takes over fd, and starts the thread, for a world of n_pes. NULL after one line; fd is closed then. */
struct wsh_uid_client *wsh_uid_client_open(int fd, int n_pes, double hang_seconds, void (*lost)(int status));
void wsh_uid_client_close(struct wsh_uid_client *client);

/*
 * Sends a message and waits for the root's answer, which comes once all others have sent the same. *answer is malloc'd.
 * `what` names it in messages. 0, or a negative errno after one line.
 */
int wsh_uid_client_ask(struct wsh_uid_client *client, enum wsh_uid_type type, uint32_t arg, const void *body,
                       size_t len, const char *what, char **answer, size_t *answer_len);

/* One line: what is waited for, so many seconds, and for whom. */
void wsh_uid_say_late(const char *what, double waited, const char *text);

/* All have come through shmem_init. */
void wsh_uid_client_started(struct wsh_uid_client *client);

/* Has the root end the job, this process too; returns where that has not happened within two seconds. */
void wsh_uid_client_abort(struct wsh_uid_client *client, int status);

#endif
