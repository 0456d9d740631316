/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes PEs into a world, serves their exchanges and ends it: whatever goes wrong, every member gets one text that says
 * why. The member in the root's own process gets it last, because its process then takes the root along.
 */
#define _GNU_SOURCE
#include "bootstrap/uid/world.h"

#include "bootstrap/uid/gather.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FLUSH_SECONDS 1.0 /* for the members to take the end; then the root goes */
#define OTHER_FILES 64    /* descriptors of a process that are not the root's */
#define WHO_MAX 96

bool wsh_uid_world_is_own(const struct wsh_uid_world *world, const struct wsh_uid_conn *conn)
{
    return conn->hello.pid == (uint32_t)getpid() && conn->hello.machine == world->id.machine;
}

static void end_send(const struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    size_t len = strlen(world->text);
    char *body;
    struct wsh_uid_buf *buf = wsh_uid_buf_make(WSH_UID_END, (uint32_t)world->status, len, &body);

    if (buf)
        memcpy(body, world->text, len);
    wsh_uid_conn_send(conn, buf);
    wsh_uid_buf_release(buf);
}

static void end_send_all(const struct wsh_uid_world *world, bool own)
{
    for (int rank = 0; rank < world->n_ranks; rank++) {
        struct wsh_uid_conn *conn = world->by_rank ? world->by_rank[rank] : NULL;

        if (conn && wsh_uid_world_is_own(world, conn) == own)
            end_send(world, conn);
    }
}

/* An end before the start also has to reach those that have yet to come, so the root goes on listening for a while. */
void wsh_uid_world_end(struct wsh_uid_world *world, int status, const char *fmt, ...)
{
    va_list args;

    if (world->state != WSH_UID_COMING && world->state != WSH_UID_RUNNING)
        return;
    va_start(args, fmt);
    vsnprintf(world->text, sizeof world->text, fmt, args);
    va_end(args);
    world->ended = world->listens_until = wsh_uid_now();
    if (world->state == WSH_UID_COMING)
        world->listens_until += world->join_seconds;
    world->status = status;
    world->state = WSH_UID_ENDING;
    end_send_all(world, false);
}

static const char *who(const struct wsh_uid_conn *conn, char text[WHO_MAX])
{
    snprintf(text, WHO_MAX, "(%s, %u)", conn->hello.name, conn->hello.pid);
    return text;
}

/* The first that comes says how many there are. A descriptor for each of them is needed here. */
static bool world_size(struct wsh_uid_world *world, int n_ranks)
{
    struct rlimit limit = {0};
    rlim_t need = (rlim_t)n_ranks + OTHER_FILES;

    world->first_came = wsh_uid_now();
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < need && limit.rlim_max >= need) {
        limit.rlim_cur = need;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < need) {
        wsh_uid_world_end(
            world, 1,
            "the process that made the unique id may have %lu open files and needs about %lu for %d "
            "ranks; raise the limit of open files there (ulimit -n)",
            (unsigned long)limit.rlim_cur, (unsigned long)need, n_ranks);
        return false;
    }
    if (wsh_uid_world_room(world, n_ranks))
        return true;
    wsh_uid_world_end(world, 1, "the process that made the unique id is out of memory for %d ranks", n_ranks);
    return false;
}

/* Numbers hosts by their first rank, and ranks within their host. */
static int number_hosts(struct wsh_uid_world *world, int *size)
{
    for (int rank = 0; rank < world->n_ranks; rank++) {
        int other = 0;

        while (world->by_rank[other]->hello.host != world->by_rank[rank]->hello.host)
            other++;
        world->host[rank] = other < rank ? world->host[other] : world->n_hosts++;
        world->local[rank] = size[world->host[rank]]++;
    }
    world->by_host = calloc((size_t)world->n_hosts, sizeof *world->by_host);
    for (int host = 0; world->by_host && host < world->n_hosts; host++)
        if (wsh_uid_gather_init(&world->by_host[host], size[host]))
            return -1;
    return world->by_host ? 0 : -1;
}

static bool on_one_machine(const struct wsh_uid_world *world)
{
    uint64_t machine = world->by_rank[0]->hello.machine;

    for (int rank = 1; rank < world->n_ranks; rank++)
        if (world->by_rank[rank]->hello.machine != machine)
            return false;
    return machine;
}

static void world_start(struct wsh_uid_world *world)
{
    int *size = calloc((size_t)world->n_ranks, sizeof *size);

    if (!size || number_hosts(world, size)) {
        wsh_uid_world_end(world, 1, "the process that made the unique id is out of memory for %d ranks",
                          world->n_ranks);
        free(size);
        return;
    }
    world->state = WSH_UID_RUNNING;
    for (int rank = 0; rank < world->n_ranks; rank++) {
        struct wsh_uid_start start = {world->local[rank], size[world->host[rank]], on_one_machine(world),
                                      (int)(1e3 * world->lease)};
        struct wsh_uid_head head = wsh_uid_head_make(WSH_UID_START, 0, sizeof start);

        wsh_uid_conn_send_bytes(world->by_rank[rank], &head, sizeof head);
        wsh_uid_conn_send_bytes(world->by_rank[rank], &start, sizeof start);
    }
    free(size);
}

/* Refused alone: the world goes on without it. */
static void refuse_late(struct wsh_uid_conn *conn)
{
    struct wsh_uid_world late = {
        .status = 1,
        .text = "all ranks of this unique id have come already; make a new one (shmemx_get_uniqueid) for "
                "each world"};

    end_send(&late, conn);
}

/* Does it fit to those that have come? */
static bool member_fits(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    const struct wsh_uid_hello *hello = &conn->hello;
    const struct wsh_uid_conn *other = NULL;
    char one[WHO_MAX], two[WHO_MAX];

    if (hello->n_ranks == world->n_ranks && !world->by_rank[hello->rank])
        return true;
    for (int rank = 0; !other; rank++)
        other = world->by_rank[rank];
    if (hello->n_ranks != world->n_ranks)
        wsh_uid_world_end(
            world, 1, "rank %d %s says that there are %d ranks, rank %d %s says %d; give all the same number",
            other->rank, who(other, one), world->n_ranks, hello->rank, who(conn, two), hello->n_ranks);
    else
        wsh_uid_world_end(world, 1,
                          "two processes say that they are rank %d, %s and %s; give each a rank of its own",
                          hello->rank, who(world->by_rank[hello->rank], one), who(conn, two));
    return false;
}

void wsh_uid_world_join(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    if (world->state == WSH_UID_RUNNING || world->state == WSH_UID_MOVING || world->state == WSH_UID_OVER) {
        refuse_late(conn);
        return;
    }
    if (world->state == WSH_UID_COMING && !world->n_ranks && !world_size(world, conn->hello.n_ranks)) {
        end_send(world, conn);
        return;
    }
    if (world->state == WSH_UID_ENDING || !member_fits(world, conn)) {
        end_send(world, conn);
        return;
    }
    conn->rank = conn->hello.rank;
    world->by_rank[conn->rank] = conn;
    if (++world->n_joined == world->n_ranks)
        world_start(world);
}

void wsh_uid_world_over(struct wsh_uid_world *world)
{
    world->state = WSH_UID_ENDING;
    world->clean = true;
    world->ended = world->listens_until = wsh_uid_now();
}

static void answer(struct wsh_uid_world *world, struct wsh_uid_gather *gather, int host)
{
    bool last = gather->type == WSH_UID_BARRIER && gather->arg;
    struct wsh_uid_buf *buf = wsh_uid_gather_finish(gather, world->host, world->n_hosts);

    if (!buf) {
        wsh_uid_world_end(world, 1, "the process that made the unique id is out of memory for %d ranks",
                          world->n_ranks);
        return;
    }
    for (int rank = 0; rank < world->n_ranks; rank++)
        if (world->by_rank[rank] && (host < 0 || world->host[rank] == host))
            wsh_uid_conn_send(world->by_rank[rank], buf);
    wsh_uid_buf_release(buf);
    world->initialized |= gather->type == WSH_UID_BARRIER;
    if (last) /* nobody needs the root any more */
        wsh_uid_world_over(world);
}

void wsh_uid_world_gathered(struct wsh_uid_world *world, struct wsh_uid_gather *gather, int host)
{
    /* What others publish is of no use to those that would also need the data of one that has left. */
    int absent = gather->type == WSH_UID_BARRIER ? world->n_left : 0;

    if (gather->have && gather->have == gather->n - absent)
        answer(world, gather, host);
}

static void member_gathers(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    bool host = conn->head.type == WSH_UID_HOST;
    struct wsh_uid_gather *gather = conn->head.type == WSH_UID_LEAVE ? &world->leaving : &world->all;
    int at = host ? world->local[conn->rank] : conn->rank;
    int rc;

    if (host && !world->by_host) { /* of a new root, which only serves what comes after the start */
        conn->broken = true;
        return;
    }
    if (host)
        gather = &world->by_host[world->host[conn->rank]];
    rc = wsh_uid_gather_take(gather, at, conn);

    if (rc)
        wsh_uid_world_end(world, 1,
                          "PE %d has come to %s (%u), PE %d to %s (%u); do all PEs run the same program?",
                          gather->first, wsh_uid_gather_name(gather->type), gather->arg, conn->rank,
                          wsh_uid_gather_name(conn->head.type), conn->head.arg);
    else
        wsh_uid_world_gathered(world, gather, host ? world->host[conn->rank] : -1);
}

struct waiting {
    const struct wsh_uid_world *world;
    int host; /* -1: for all PEs */
};

static bool part_is_there(const void *context, int rank)
{
    const struct waiting *waiting = context;
    const struct wsh_uid_world *world = waiting->world;

    if (waiting->host < 0)
        return world->all.part[rank].bytes || world->left[rank];
    return world->host[rank] != waiting->host || world->by_host[waiting->host].part[world->local[rank]].bytes;
}

static bool has_joined(const void *context, int rank)
{
    return ((const struct waiting *)context)->world->by_rank[rank];
}

static void say_missing(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    bool coming = world->state == WSH_UID_COMING;
    struct waiting waiting = {world, world->all.have ? -1 : world->host[conn->rank]};
    char list[160], *body, text[WSH_UID_TEXT_MAX];
    struct wsh_uid_buf *buf;
    int len;

    wsh_uid_missing(list, sizeof list, world->n_ranks, coming ? has_joined : part_is_there, &waiting);
    len = snprintf(text, sizeof text, "PEs that have not come: %s", list);
    buf = wsh_uid_buf_make(WSH_UID_SAY, 0, (size_t)len, &body);
    if (buf)
        memcpy(body, text, (size_t)len);
    wsh_uid_conn_send(conn, buf);
    wsh_uid_buf_release(buf);
}

void wsh_uid_world_take(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    char text[WHO_MAX];

    if (conn->rank < 0)
        return;
    if (conn->head.type == WSH_UID_REQUEST && conn->head.arg == WSH_UID_REQUESTS_START) {
        if (world->state == WSH_UID_COMING) /* else the answer is under way already */
            say_missing(world, conn);
        return;
    }
    if (world->state != WSH_UID_RUNNING)
        return;
    switch (conn->head.type) {
    case WSH_UID_PUBLISH:
    case WSH_UID_HOST:
    case WSH_UID_BARRIER:
    case WSH_UID_LEAVE: member_gathers(world, conn); break;
    case WSH_UID_ABORT: wsh_uid_world_end(world, (int)conn->head.arg, "%s", ""); break;
    case WSH_UID_REQUEST: say_missing(world, conn); break;
    default:
        wsh_uid_world_end(world, 1,
                          "PE %d %s sent what is no message; do all PEs run the same version of warpshmem?",
                          conn->rank, who(conn, text));
    }
}

void wsh_uid_world_lose(struct wsh_uid_world *world, struct wsh_uid_conn *conn)
{
    char text[WHO_MAX];

    if (conn->rank < 0)
        return;
    world->by_rank[conn->rank] = NULL;
    world->n_joined--;
    if (world->left[conn->rank])
        return;
    if (world->state == WSH_UID_COMING)
        wsh_uid_world_end(world, 1, "rank %d %s has ended before all %d ranks had come; see its message",
                          conn->rank, who(conn, text), world->n_ranks);
    else
        wsh_uid_world_end(world, 1, "PE %d %s has ended without shmem_finalize, and so does the job",
                          conn->rank, who(conn, text));
}

static bool is_flushed(const struct wsh_uid_world *world, bool own)
{
    for (int rank = 0; rank < world->n_ranks && world->by_rank; rank++) {
        const struct wsh_uid_conn *conn = world->by_rank[rank];

        if (conn && conn->first && !conn->broken && wsh_uid_world_is_own(world, conn) == own)
            return false;
    }
    return true;
}

static void check_joined(struct wsh_uid_world *world, double now)
{
    struct waiting waiting = {world, -1};
    char list[160];
    int missing;

    if (!world->n_ranks || now < world->first_came + world->join_seconds)
        return;
    missing = wsh_uid_missing(list, sizeof list, world->n_ranks, has_joined, &waiting);
    wsh_uid_world_end(
        world, 1,
        "%d of %d ranks have not come within %.3g s: %s; start them, or raise SHMEM_BOOTSTRAP_UID_SECONDS",
        missing, world->n_ranks, world->join_seconds, list);
}

void wsh_uid_world_tick(struct wsh_uid_world *world)
{
    double now = wsh_uid_now();

    if (world->state == WSH_UID_COMING)
        check_joined(world, now);
    if (world->state != WSH_UID_ENDING)
        return;
    if (!world->flushed && (is_flushed(world, false) || now > world->ended + FLUSH_SECONDS)) {
        world->flushed = true;
        if (!world->clean)
            end_send_all(world, true);
    }
    if (world->flushed && now >= world->listens_until &&
        (is_flushed(world, true) || now > world->ended + 2 * FLUSH_SECONDS))
        world->state = WSH_UID_OVER;
}

void wsh_uid_world_fini(struct wsh_uid_world *world)
{
    wsh_uid_gather_fini(&world->all);
    wsh_uid_gather_fini(&world->leaving);
    for (int host = 0; host < world->n_hosts && world->by_host; host++)
        wsh_uid_gather_fini(&world->by_host[host]);
    free(world->by_host);
    free(world->by_rank);
    free(world->host);
    free(world->local);
    free(world->left);
}
