/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares members failed, and passes on what survivors write. */
#define _GNU_SOURCE
#include "bootstrap/uid/survive/members.h"

#include "bootstrap/uid/gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word of memory that all members have, which the first of those changes that know what it was. */
struct wsh_uid_decided {
    struct wsh_uid_decided *next;
    uint64_t at, word;
};

static void send_others(struct wsh_uid_world *world, int but, struct wsh_uid_buf *buf)
{
    for (int rank = 0; rank < world->n_ranks && buf; rank++)
        if (world->by_rank[rank] && rank != but)
            wsh_uid_conn_send(world->by_rank[rank], buf);
    wsh_uid_buf_release(buf);
}

static void send_body(struct wsh_uid_world *world, int but, enum wsh_uid_type type, uint32_t arg,
                      const void *body, size_t len)
{
    char *at;
    struct wsh_uid_buf *buf = wsh_uid_buf_make(type, arg, len, &at);

    if (buf)
        memcpy(at, body, len);
    send_others(world, but, buf);
}

/* The text is for the first that lives, which prints it. */
static void news_send(struct wsh_uid_world *world, const struct wsh_uid_conn *conn)
{
    const char *why = conn->silent ? "nothing was heard of it for too long" : "its process has ended";
    char text[WSH_UID_TEXT_MAX], *at;
    int first = 0, len;
    struct wsh_uid_buf *buf;

    while (first < world->n_ranks && !world->by_rank[first])
        first++;
    if (first == world->n_ranks)
        return;
    len = snprintf(text, sizeof text, "PE %d (%s, pid %u) has failed: %s; the others go on", conn->rank,
                   conn->hello.name, conn->hello.pid, why);
    buf = wsh_uid_buf_make(WSH_UID_FAILED, (uint32_t)conn->rank, (size_t)len, &at);
    if (buf)
        memcpy(at, text, (size_t)len);
    wsh_uid_conn_send(world->by_rank[first], buf);
    wsh_uid_buf_release(buf);
    send_body(world, first, WSH_UID_FAILED, (uint32_t)conn->rank, "", 0);
}

/* Its state in exchanges is that of one that has left. */
bool wsh_uid_world_survives(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    if (conn->rank < 0 || !world->lease || !world->initialized || world->state != WSH_UID_RUNNING)
        return false;
    world->by_rank[conn->rank] = NULL;
    world->n_joined--;
    if (world->left[conn->rank])
        return true;
    world->left[conn->rank] = true;
    world->n_left++;
    wsh_uid_gather_drop(&world->all, conn->rank);
    wsh_uid_gather_drop(&world->leaving, conn->rank);
    news_send(world, conn);
    wsh_uid_world_gathered(world, &world->all, -1);
    if (world->n_left == world->n_ranks && world->state == WSH_UID_RUNNING)
        wsh_uid_world_over(world);
    return true;
}

static struct wsh_uid_decided *decided_find(struct wsh_uid_world *world, uint64_t at)
{
    struct wsh_uid_decided *one = world->decided;

    while (one && one->at != at)
        one = one->next;
    if (one || !(one = calloc(1, sizeof *one)))
        return one;
    *one = (struct wsh_uid_decided){world->decided, at, 0};
    world->decided = one;
    return one;
}

/* Who comes too late with its own learns, or has learnt, of the first. */
static void decide(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    struct wsh_uid_decide what;
    struct wsh_uid_decided *one;

    memcpy(&what, conn->body, sizeof what);
    one = decided_find(world, what.at);
    if (!one) {
        conn->broken = true;
        return;
    }
    if (one->word != what.before)
        return;
    one->word = what.after;
    send_body(world, -1, WSH_UID_DECIDE, 0, &what, sizeof what);
}

bool wsh_uid_world_survive_take(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    bool runs = world->lease && conn->rank >= 0 && world->state == WSH_UID_RUNNING;
    struct wsh_uid_buf *buf;
    char *none;

    switch (conn->head.type) {
    case WSH_UID_BEAT:
        buf = wsh_uid_buf_make(WSH_UID_BEAT, conn->head.arg, 0, &none);
        wsh_uid_conn_send(conn, buf);
        wsh_uid_buf_release(buf);
        return true;
    case WSH_UID_TELL:
        if (runs)
            send_body(world, conn->rank, WSH_UID_TELL, 0, conn->body, conn->head.len);
        return true;
    case WSH_UID_DECIDE:
        if (runs)
            decide(world, conn);
        return true;
    default: return false;
    }
}

void wsh_uid_world_survive_tick(struct wsh_uid_world *world)
{
    const double now = wsh_uid_now();

    for (int rank = 0; world->lease && world->state == WSH_UID_RUNNING && rank < world->n_ranks; rank++) {
        struct wsh_uid_conn *conn = world->by_rank[rank];

        if (conn && !world->initialized)
            conn->heard = now;
        if (!conn || now < conn->heard + 2 * world->lease)
            continue;
        conn->silent = conn->broken = true;
    }
}

void wsh_uid_world_survive_fini(struct wsh_uid_world *world)
{
    while (world->decided) {
        struct wsh_uid_decided *one = world->decided;

        world->decided = one->next;
        free(one);
    }
}
