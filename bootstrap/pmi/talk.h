/* SPDX-License-Identifier: BSD-3-Clause */
/* The conversation with a PMI server over the descriptor that the launcher left: one question, one answer. */
#ifndef WSH_BOOTSTRAP_PMI_TALK_H
#define WSH_BOOTSTRAP_PMI_TALK_H

#include "bootstrap/pmi/wire.h"

#include <pthread.h>
#include <stdbool.h>

struct wsh_pmi_talk {
    int fd;
    struct wsh_pmi_session session;
    char in[WSH_PMI_MESSAGE]; /* what came, not yet taken */
    size_t have;
    const char *what; /* what a fence is for, in messages */
    double hang_seconds;
    void (*lost)(int status); /* called after a line when the server is gone; NULL: not */
    pthread_mutex_t losing;
    bool gone;
    pthread_t watcher;
    int stop; /* an eventfd that ends the watcher */
};

/* Takes over the descriptor, which must be a socket. 0 or a negative errno after one line. */
int wsh_pmi_talk_open(struct wsh_pmi_talk *talk, int fd);

/* Asks and waits for the answer. 0 or a negative errno after one line. */
int wsh_pmi_talk_request(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, const char *key, const char *value,
                         struct wsh_pmi_answer *answer);

/* The same for what the server may not have: -EREMOTEIO, without a line. */
int wsh_pmi_talk_try(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, const char *key,
                     struct wsh_pmi_answer *answer);

/* Sends without waiting for an answer; says nothing. */
void wsh_pmi_talk_say(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, const char *value);

/* Says that this PE leaves, waits at most a few seconds for the answer, and closes the descriptor. Says nothing. */
void wsh_pmi_talk_close(struct wsh_pmi_talk *talk);

/*
 * From here to wsh_pmi_talk_unwatch a thread calls talk->lost when the server is gone. 0 or a negative errno after
 * one line.
 */
int wsh_pmi_talk_watch(struct wsh_pmi_talk *talk);
void wsh_pmi_talk_unwatch(struct wsh_pmi_talk *talk);

#endif
