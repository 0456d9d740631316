/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells members who has left, and passes a world on to another root. */
#include "bootstrap/uid/leave.h"

#include "bootstrap/uid/gather.h"

#include <errno.h>
#include <string.h>

#define RETURN_SECONDS 30. /* from a new root's start until all members are there */

static void send_all(struct wsh_uid_world *world, struct wsh_uid_buf *buf)
{
    for (int rank = 0; rank < world->n_ranks && buf; rank++)
        if (world->by_rank[rank])
            wsh_uid_conn_send(world->by_rank[rank], buf);
    wsh_uid_buf_release(buf);
}

void wsh_uid_world_leave(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    int rank = conn->rank;
    char *none;

    if (world->left[rank])
        return;
    world->left[rank] = true;
    world->n_left++;
    world->own_left |= wsh_uid_world_is_own(world, conn);
    wsh_uid_gather_drop(&world->all, rank);
    wsh_uid_gather_drop(&world->leaving, rank);
    if (world->successor == rank)
        world->successor = -1;
    send_all(world, wsh_uid_buf_make(WSH_UID_LEFT, (uint32_t)rank, 0, &none));
    wsh_uid_world_gathered(world, &world->all, -1);
    if (world->n_left == world->n_ranks && world->state == WSH_UID_RUNNING) {
        world->state = WSH_UID_ENDING;
        world->clean = true;
        world->ended = world->listens_until = wsh_uid_now();
    }
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
    if (world->n_joined + world->n_left >= world->n_ranks)
        world->returned_until = 0;
    for (int rank = 0; world->returned_until && wsh_uid_now() > world->returned_until; rank++)
        if (!world->by_rank[rank] && !world->left[rank]) {
            world->returned_until = 0;
            wsh_uid_world_end(world, 1, "PE %d has ended without shmem_finalize, and so does the job", rank);
        }
}

static bool all_have_gone(const struct wsh_uid_world *world)
{
    for (int rank = 0; rank < world->n_ranks; rank++)
        if (world->by_rank[rank])
            return false;
    return true;
}

void wsh_uid_world_succeed(struct wsh_uid_world *world)
{
    struct wsh_uid_buf *buf;
    char *none;

    if (world->state == WSH_UID_MOVING && all_have_gone(world))
        world->state = WSH_UID_OVER;
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

void wsh_uid_world_move(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
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
