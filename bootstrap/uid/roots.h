/* SPDX-License-Identifier: BSD-3-Clause */
/* The roots of this process, in a list. uid/root.c serves them. */
#ifndef WSH_BOOTSTRAP_UID_ROOTS_H
#define WSH_BOOTSTRAP_UID_ROOTS_H

#include "bootstrap/uid/listen.h"
#include "bootstrap/uid/world.h"

#include "base/env/env.h"

struct wsh_uid_root {
    struct wsh_uid_world world;
    struct wsh_uid_listen at;
    struct wsh_uid_conn *conns; /* the newest first */
    int n_unknown;
    double made;
    int maker; /* pidfd of the process that made the id, where this one does nothing else; -1 */

    /* Under the lock, and the descriptors too. */
    bool done;           /* what it owes to members of other processes is sent */
    bool used, unwanted; /* a PE has come; given up before that */
    int last_root;       /* the connection to the root before this one; -1: none */
    bool *left;          /* [rank] who has left that root, until this one takes over; else NULL */
    struct wsh_uid_root *next;
};

void wsh_uid_roots_lock(void);
void wsh_uid_roots_unlock(void);

/* join_seconds: of its world. NULL: no memory. */
struct wsh_uid_root *wsh_uid_roots_add(const struct wsh_secret *secret, double join_seconds);
/* Closes and frees it. */
void wsh_uid_roots_remove(struct wsh_uid_root *root);
/* The root of that id, or NULL. Under the lock. */
struct wsh_uid_root *wsh_uid_roots_find(const struct wsh_uid *uid);

/* Its members have all they need. */
void wsh_uid_roots_done(struct wsh_uid_root *root);

/* Gives up ids that nobody uses where a new one may lack descriptors. */
void wsh_uid_roots_make_room(void);

#endif
