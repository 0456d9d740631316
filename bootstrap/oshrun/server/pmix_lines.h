/* SPDX-License-Identifier: BSD-3-Clause */
/* What libpmix prints in oshrun's process, kept off standard error where users need not read it. */
#ifndef WSH_OSHRUN_PMIX_WORDS_H
#define WSH_OSHRUN_PMIX_WORDS_H

#include "bootstrap/oshrun/io.h"

#include <stdbool.h>

struct wsh_pmix_words {
    int fds[2]; /* a pipe; -1: libpmix prints where it likes */
    int index;  /* in the pollset */
    bool said;
    bool ended; /* its last word */
    char line[512];
    size_t used;
    char held[512]; /* an error that is said, unless a PE turns out to have failed; empty: none */
    double until;   /* when */
};

/* Around the start of libpmix's server: tells it where to print, and takes that from what PEs inherit. */
void wsh_pmix_words_begin(struct wsh_pmix_words *words);
void wsh_pmix_words_begun(const struct wsh_pmix_words *words);

void wsh_pmix_words_poll(struct wsh_pmix_words *words, struct wsh_pollset *set);

/*
 * Says what has been held back long enough, or at the end. A PE that dies while it connects breaks a connection, too,
 * and has a line of its own: `failed`, one has. wsh_pmix_words_wait: seconds until there is something to say; negative:
 * nothing.
 */
void wsh_pmix_words_say(struct wsh_pmix_words *words, bool failed, bool end);
double wsh_pmix_words_wait(const struct wsh_pmix_words *words);

/* Reads what there is. True: the server takes no more connections, since there was no descriptor for one. */
bool wsh_pmix_words_work(struct wsh_pmix_words *words, const struct wsh_pollset *set);

#endif
