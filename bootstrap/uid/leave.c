/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells members who has left, and passes a world on to another root. */
#include "bootstrap/uid/leave.h"

#include "bootstrap/uid/gather.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define RETURN_SECONDS 30. /* from a new root's start until all members are there */
#define HURRY_SECONDS 1. /* from the end of the last root, which members leave for this one before it ends */

static void send_all(struct wsh_uid_world *world, struct wsh_uid_buf *buf)
{
    for (int rank = 0; rank < world->n_ranks && buf; rank++)
        if (world->by_rank[rank])
            wsh_uid_conn_send(world->by_rank[rank], buf);
    wsh_uid_buf_release(buf);
}

static void note_left(struct wsh_uid_world *world, int rank)
{
    world->left[rank] = true;
    world->n_left++;
    wsh_uid_gather_drop(&world->all, rank);
    wsh_uid_gather_drop(&world->leaving, rank);
}

static void member_leave(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    int rank = conn->rank;
    char *none;

    if (world->left[rank])
        return;
    note_left(world, rank);
    world->own_left |= wsh_uid_world_is_own(world, conn);
    if (world->successor == rank)
        world->successor = -1;
    send_all(world, wsh_uid_buf_make(WSH_UID_LEFT, (uint32_t)rank, 0, &none));
    wsh_uid_world_gathered(world, &world->all, -1);
    if (world->n_left == world->n_ranks && world->state == WSH_UID_RUNNING)
        wsh_uid_world_over(world);
}

/* A process of the root's own machine is reached as the root was. */
static int successor_choose(const struct wsh_uid_world *world)
{
    int any = -1;

    for (int rank = 0; rank < world->n_ranks; rank++) {
        const struct wsh_uid_conn *conn = world->by_rank[rank];

        if (!conn || world->left[rank])
            continue;
        if (conn->hello.machine == world->id.machine)
            return rank;
        any = any < 0 ? rank : any;
    }
    return any;
}

static void check_returned(struct wsh_uid_world *world)
{
    int rank = 0;

    while (rank < world->n_ranks && (world->by_rank[rank] || world->left[rank]))
        rank++;
    if (rank < world->n_ranks && wsh_uid_now() <= world->returned_until)
        return;
    world->returned_until = 0;
    if (rank < world->n_ranks)
        wsh_uid_world_end(world, 1, "PE %d has ended without shmem_finalize, and so does the job", rank);
}

/*
 * The successor is the last: that nothing more is sent to it tells the new root that all others have gone there, or
 * have ended.
 */
static void check_gone(struct wsh_uid_world *world)
{
    const struct wsh_uid_conn *successor = world->successor < 0 ? NULL : world->by_rank[world->successor];

    for (int rank = 0; rank < world->n_ranks; rank++)
        if (world->by_rank[rank] && rank != world->successor)
            return;
    if (!successor)
        world->state = WSH_UID_OVER;
    else if (!successor->first)
        shutdown(successor->fd, SHUT_WR);
}

void wsh_uid_world_succeed(struct wsh_uid_world *world)
{
    struct wsh_uid_buf *buf;
    char *none;

    if (world->state == WSH_UID_MOVING)
        check_gone(world);
    if (world->state != WSH_UID_RUNNING)
        return;
    if (world->returned_until)
        check_returned(world);
    if (!world->own_left || world->returned_until || world->successor >= 0)
        return;
    world->successor = successor_choose(world);
    if (world->successor < 0)
        return;
    buf = wsh_uid_buf_make(WSH_UID_SUCCEED, 0, 0, &none);
    wsh_uid_conn_send(world->by_rank[world->successor], buf);
    wsh_uid_buf_release(buf);
}

static void successor_move(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    struct wsh_uid_buf *buf;
    char *body;

    if (conn->rank != world->successor)
        return;
    buf = wsh_uid_buf_make(WSH_UID_MOVE, 0, conn->head.len, &body);
    if (buf)
        memcpy(body, conn->body, conn->head.len);
    world->state = WSH_UID_MOVING;
    send_all(world, buf);
}

bool wsh_uid_world_leave_take(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    bool runs = conn->rank >= 0 && world->state == WSH_UID_RUNNING;

    switch (conn->head.type) {
    case WSH_UID_LEFT:
        if (runs)
            member_leave(world, conn);
        return true;
    case WSH_UID_MOVE:
        if (runs)
            successor_move(world, conn);
        return true;
    default: return false;
    }
}

int wsh_uid_world_inherit(struct wsh_uid_world *world, int n_ranks, const bool *left)
{
    if (!wsh_uid_world_room(world, n_ranks))
        return -ENOMEM;
    world->state = WSH_UID_RUNNING;
    world->returned_until = wsh_uid_now() + RETURN_SECONDS;
    for (int rank = 0; rank < n_ranks; rank++) {
        world->left[rank] = left[rank];
        world->n_left += left[rank];
    }
    return 0;
}

void wsh_uid_world_inherit_left(struct wsh_uid_world *world, const bool *left)
{
    for (int rank = 0; rank < world->n_ranks; rank++)
        if (left[rank] && !world->left[rank])
            note_left(world, rank);
    wsh_uid_world_gathered(world, &world->all, -1);
}

void wsh_uid_world_hurry(struct wsh_uid_world *world)
{
    double until = wsh_uid_now() + HURRY_SECONDS;

    if (world->returned_until > until)
        world->returned_until = until;
}

bool wsh_uid_world_returns(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    int rank = conn->hello.rank;

    if (world->state != WSH_UID_RUNNING || !world->returned_until || conn->hello.n_ranks != world->n_ranks ||
        world->by_rank[rank] || world->left[rank])
        return false;
    conn->rank = rank;
    world->by_rank[rank] = conn;
    world->n_joined++;
    return true;
}
