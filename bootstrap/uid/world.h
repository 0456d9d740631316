/* SPDX-License-Identifier: BSD-3-Clause */
/* The world of a unique id as its root sees it: who has come, what they exchange, and how it ends. */
#ifndef WSH_BOOTSTRAP_UID_WORLD_H
#define WSH_BOOTSTRAP_UID_WORLD_H

#include "bootstrap/uid/conn.h"

/* An exchange in progress among n PEs. */
struct wsh_uid_gather {
    uint32_t type, arg;
    int n, have, first; /* first: who began it */
    struct {
        char *bytes; /* NULL: has not come */
        size_t len;
    } * part;
};

/* MOVING: another process is the root now; this one waits until its members have gone there. */
enum wsh_uid_state { WSH_UID_COMING, WSH_UID_RUNNING, WSH_UID_MOVING, WSH_UID_ENDING, WSH_UID_OVER };

struct wsh_uid_world {
    struct wsh_uid id;
    double join_seconds; /* how long those that have come wait for the others */

    enum wsh_uid_state state;
    int n_ranks, n_joined; /* 0: nobody has come */
    double first_came;
    struct wsh_uid_conn **by_rank;
    int *host, *local; /* [rank] number of its host, and its own there */
    int n_hosts;
    struct wsh_uid_gather all, leaving, *by_host;

    bool *left; /* [rank] has left without shmem_finalize, or failed while the others go on */
    int n_left;
    bool own_left; /* the member in the root's own process has left: another process has to become the root */
    int successor; /* rank; -1: none has been asked */
    double returned_until; /* a new root: when all members have to be here; 0: they are */

    double lease;     /* seconds (survive/members.h); 0: a member that fails ends the world */
    bool initialized; /* all have come through shmem_init */
    struct wsh_uid_decided *decided;

    double ended, listens_until; /* ENDING */
    bool clean;                  /* the job ended because all have come to the last barrier */
    bool flushed;                /* the members of other processes know that it has ended */
    int status;
    char text[WSH_UID_TEXT_MAX];
};

/* A peer that knows the secret wants to come in. */
void wsh_uid_world_join(struct wsh_uid_world *world, struct wsh_uid_conn *conn);
/* A member's message is complete. */
void wsh_uid_world_take(struct wsh_uid_world *world, struct wsh_uid_conn *conn);
/* A connection is about to be closed. */
void wsh_uid_world_lose(struct wsh_uid_world *world, struct wsh_uid_conn *conn);
/* Ends the world with one text for all members. Empty: a PE wanted it. */
void wsh_uid_world_end(struct wsh_uid_world *world, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* All have finalized, have left or have failed: the end of a world in which nothing is wrong. */
void wsh_uid_world_over(struct wsh_uid_world *world);
/* Room for so many members. False: there is no memory. */
bool wsh_uid_world_room(struct wsh_uid_world *world, int n_ranks);
/* Something may complete an exchange: the last part has come, or a member that lacked has left. */
void wsh_uid_world_gathered(struct wsh_uid_world *world, struct wsh_uid_gather *gather, int host);
/* The connection is that of the PE in this process. */
bool wsh_uid_world_is_own(const struct wsh_uid_world *world, const struct wsh_uid_conn *conn);
/* Does what is due now. */
void wsh_uid_world_tick(struct wsh_uid_world *world);
void wsh_uid_world_fini(struct wsh_uid_world *world);

#endif
