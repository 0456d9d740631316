/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, writes and reads between one NIC of this host and one of another, without a job. */
#define _GNU_SOURCE
#include "transports/efa/nic/ping.h"

#include "base/err.h"
#include "base/log.h"
#include "base/secret.h"
#include "transports/efa/nic/provider.h"
#include "transports/efa/nic/rail.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_rma.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MEMORY (3 * WSH_PING_BYTES + 65536) /* the peer's, what is written, what is read, words of messages */
#define WORDS (3 * WSH_PING_BYTES)
#define WORD_ROOM 64

struct wsh_ping {
    struct wsh_efa_lib lib;
    struct fi_info *list;
    struct wsh_efa_rail rail;
    struct fid_mr *mr;
    char *memory;
    fi_addr_t other;
    uint64_t base, key;
    struct fi_context2 receives[WSH_PING_DEPTH], requests[WSH_PING_DEPTH];
    struct fi_context2 *room[WSH_PING_DEPTH]; /* requests that are not under way */
    int n_room;
    char why[256];
};

static int failed(struct wsh_ping *ping, const char *call, long rc)
{
    snprintf(ping->why, sizeof ping->why, "%s: %s", call, ping->lib.strerror((int)-rc));
    return (int)rc;
}

int wsh_ping_open(struct wsh_ping **made, const struct wsh_env *env, struct wsh_ping_words *words)
{
    struct wsh_ping *ping = calloc(1, sizeof *ping);
    char why[512];
    int rc = ping ? wsh_efa_provider_open(&ping->lib, env, &ping->list, why, sizeof why) : -ENOMEM;

    if (rc == -ENODEV)
        wsh_error("no network for hosts: %s", why);
    if (rc) {
        free(ping);
        return rc;
    }
    *words = (struct wsh_ping_words){0};
    snprintf(words->provider, sizeof words->provider, "%s", ping->list->fabric_attr->prov_name);
    snprintf(words->fabric, sizeof words->fabric, "%s",
             ping->list->fabric_attr->name ? ping->list->fabric_attr->name : "-");
    snprintf(words->format, sizeof words->format, "%u", ping->list->addr_format);
    for (const struct fi_info *info = ping->list; info; info = info->next)
        words->n_nics++;
    *made = ping;
    return 0;
}

void wsh_ping_close(struct wsh_ping *ping)
{
    ping->lib.freeinfo(ping->list);
    wsh_efa_lib_close(&ping->lib);
    free(ping);
}

static const struct fi_info *nth(const struct wsh_ping *ping, int i)
{
    const struct fi_info *info = ping->list;

    while (i-- && info->next)
        info = info->next;
    return info;
}

const char *wsh_ping_nic(const struct wsh_ping *ping, int i)
{
    return nth(ping, i)->domain_attr->name;
}

const char *wsh_ping_address(const struct wsh_ping *ping, char *text, size_t size)
{
    unsigned char name[WSH_PING_ADDRESS] = {0};
    const struct sockaddr_in *in = (const void *)name;
    const struct sockaddr_in6 *in6 = (const void *)name;
    size_t len = sizeof name;

    snprintf(text, size, "-");
    if (!ping->rail.ep || fi_getname(&ping->rail.ep->fid, name, &len))
        return text;
    if (ping->rail.info->addr_format == FI_SOCKADDR_IN)
        inet_ntop(AF_INET, &in->sin_addr, text, (socklen_t)size);
    else if (ping->rail.info->addr_format == FI_SOCKADDR_IN6)
        inet_ntop(AF_INET6, &in6->sin6_addr, text, (socklen_t)size);
    else if (ping->rail.info->addr_format == FI_ADDR_EFA) /* it begins with the NIC's GID */
        inet_ntop(AF_INET6, name, text, (socklen_t)size);
    return text;
}

/* Registered for this NIC alone, under a key that nobody guesses where the provider takes one. */
static int memory_register(struct wsh_ping *ping)
{
    const struct fi_domain_attr *attr = ping->rail.info->domain_attr;
    size_t size =
        attr->mr_key_size && attr->mr_key_size < sizeof(uint64_t) ? attr->mr_key_size : sizeof(uint64_t);
    uint64_t key = 0, access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    int rc = attr->mr_mode & FI_MR_PROV_KEY ? 0 : wsh_random_fill(&key, size);

    if (!rc)
        rc = fi_mr_reg(ping->rail.domain, ping->memory, MEMORY, access, 0, key, 0, &ping->mr, NULL);
    if (!rc && attr->mr_mode & FI_MR_ENDPOINT) {
        rc = fi_mr_bind(ping->mr, &ping->rail.ep->fid, 0);
        if (!rc)
            rc = fi_mr_enable(ping->mr);
    }
    if (rc)
        wsh_error("%s does not register %zu bytes of memory: %s; raise `ulimit -l`", ping->rail.name, MEMORY,
                  ping->lib.strerror(-rc));
    return rc;
}

static int receive(struct wsh_ping *ping, size_t i)
{
    long rc = fi_recv(ping->rail.ep, ping->memory + WORDS + i * WORD_ROOM, WORD_ROOM, fi_mr_desc(ping->mr),
                      FI_ADDR_UNSPEC, &ping->receives[i]);

    return rc ? failed(ping, "fi_recv", rc) : 0;
}

static int memory_map(struct wsh_ping *ping)
{
    ping->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ping->memory != MAP_FAILED)
        return 0;
    ping->memory = NULL;
    return -ENOMEM;
}

int wsh_ping_begin(struct wsh_ping *ping, int i, struct wsh_ping_end *own)
{
    int rc = memory_map(ping);
    struct fi_info *info = rc ? NULL : ping->lib.dupinfo(nth(ping, i));

    if (!info)
        rc = -ENOMEM;
    if (!rc)
        rc = wsh_efa_rail_open(&ping->rail, &ping->lib, info, 1024);
    if (!rc)
        rc = memory_register(ping);
    own->address_len = sizeof own->address;
    if (!rc)
        rc = wsh_efa_rail_name(&ping->rail, &ping->lib, own->address, &own->address_len);
    for (ping->n_room = 0; !rc && ping->n_room < WSH_PING_DEPTH; ping->n_room++) {
        ping->room[ping->n_room] = &ping->requests[ping->n_room];
        rc = receive(ping, (size_t)ping->n_room);
    }
    if (rc) {
        wsh_ping_end(ping);
        return rc;
    }
    own->key = fi_mr_key(ping->mr);
    own->base =
        ping->rail.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)ping->memory : 0;
    own->len = WSH_PING_BYTES;
    return 0;
}

void wsh_ping_end(struct wsh_ping *ping)
{
    if (ping->rail.ep)
        wsh_efa_rail_stop(&ping->rail);
    if (ping->mr)
        wsh_efa_fid_close(&ping->mr->fid, "memory region", &ping->rail);
    ping->mr = NULL;
    wsh_efa_rail_close(&ping->rail, &ping->lib);
    if (ping->memory)
        munmap(ping->memory, MEMORY);
    ping->memory = NULL;
}

int wsh_ping_learn(struct wsh_ping *ping, const struct wsh_ping_end *other)
{
    unsigned char own[WSH_PING_ADDRESS];
    size_t len = sizeof own;
    int rc = fi_getname(&ping->rail.ep->fid, own, &len);

    if (rc)
        return failed(ping, "fi_getname", rc);
    if (other->address_len != len || other->len < WSH_PING_BYTES || other->base + other->len < other->base) {
        snprintf(ping->why, sizeof ping->why, "its address has %zu bytes, and that of this end %zu",
                 other->address_len, len);
        return -EINVAL;
    }
    ping->base = other->base;
    ping->key = other->key;
    rc = fi_av_insert(ping->rail.av, other->address, 1, &ping->other, 0, NULL);
    return rc == 1 ? 0 : failed(ping, "fi_av_insert", rc < 0 ? rc : -FI_EADDRNOTAVAIL);
}

/* The request has begun, or its room is free again. */
static int begun(struct wsh_ping *ping, const char *call, long rc)
{
    if (!rc)
        return 0;
    ping->n_room++;
    return rc == -FI_EAGAIN ? -EAGAIN : failed(ping, call, rc);
}

int wsh_ping_send(struct wsh_ping *ping, uint64_t word)
{
    struct fi_context2 *request;
    char *at;

    if (!ping->n_room)
        return -EAGAIN;
    request = ping->room[--ping->n_room];
    at = ping->memory + WORDS + (size_t)(WSH_PING_DEPTH + (request - ping->requests)) * WORD_ROOM;
    memcpy(at, &word, sizeof word);
    return begun(ping, "fi_send",
                 fi_send(ping->rail.ep, at, sizeof word, fi_mr_desc(ping->mr), ping->other, request));
}

int wsh_ping_write(struct wsh_ping *ping, size_t len)
{
    struct iovec iov = {ping->memory + WSH_PING_BYTES, len};
    struct fi_rma_iov to = {ping->base, len, ping->key};
    void *desc = fi_mr_desc(ping->mr);
    struct fi_msg_rma message = {&iov, &desc, 1, ping->other, &to, 1, NULL, 0};

    if (!ping->n_room)
        return -EAGAIN;
    message.context = ping->room[--ping->n_room];
    return begun(ping, "fi_writemsg",
                 fi_writemsg(ping->rail.ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE));
}

int wsh_ping_read(struct wsh_ping *ping, size_t len)
{
    if (!ping->n_room)
        return -EAGAIN;
    ping->n_room--;
    return begun(ping, "fi_read",
                 fi_read(ping->rail.ep, ping->memory + 2 * WSH_PING_BYTES, len, fi_mr_desc(ping->mr),
                         ping->other, ping->base, ping->key, ping->room[ping->n_room]));
}

int wsh_ping_under_way(const struct wsh_ping *ping)
{
    return WSH_PING_DEPTH - ping->n_room;
}

size_t wsh_ping_bytes(const struct wsh_ping *ping)
{
    size_t most = ping->rail.info->ep_attr->max_msg_size;

    return most < WSH_PING_BYTES ? most : WSH_PING_BYTES;
}

void wsh_ping_fill(struct wsh_ping *ping, unsigned seed)
{
    unsigned char *at = (unsigned char *)ping->memory + WSH_PING_BYTES;

    for (size_t i = 0; i < WSH_PING_BYTES; i++) {
        seed = seed * 1103515245 + 12345;
        at[i] = (unsigned char)(seed >> 16);
    }
}

int wsh_ping_compare(const struct wsh_ping *ping, size_t len)
{
    return memcmp(ping->memory + WSH_PING_BYTES, ping->memory + 2 * WSH_PING_BYTES, len);
}

static int take_error(struct wsh_ping *ping, long rc)
{
    struct fi_cq_err_entry error = {0};
    char text[160] = "";

    if (rc != -FI_EAVAIL || fi_cq_readerr(ping->rail.cq, &error, 0) != 1)
        return failed(ping, "fi_cq_read", rc);
    snprintf(ping->why, sizeof ping->why, "%s (%s)", ping->lib.strerror(error.err),
             fi_cq_strerror(ping->rail.cq, error.prov_errno, error.err_data, text, sizeof text));
    return -EIO;
}

static int take_message(struct wsh_ping *ping, size_t i, size_t len, uint64_t *word)
{
    int rc;

    *word = 0;
    memcpy(word, ping->memory + WORDS + i * WORD_ROOM, sizeof *word);
    rc = receive(ping, i);
    if (rc)
        return rc;
    return len == sizeof *word ? WSH_PING_MESSAGE : WSH_PING_NOTHING;
}

int wsh_ping_turn(struct wsh_ping *ping, uint64_t *word)
{
    struct fi_cq_data_entry entry;
    const struct fi_context2 *context;
    long rc = fi_cq_read(ping->rail.cq, &entry, 1);

    if (rc == -FI_EAGAIN)
        return WSH_PING_NOTHING;
    if (rc < 0)
        return take_error(ping, rc);
    context = entry.op_context;
    if (context >= ping->receives && context < ping->receives + WSH_PING_DEPTH)
        return take_message(ping, (size_t)(context - ping->receives), entry.len, word);
    if (context < ping->requests || context >= ping->requests + WSH_PING_DEPTH ||
        ping->n_room == WSH_PING_DEPTH)
        return WSH_PING_NOTHING; /* the peer's */
    ping->room[ping->n_room++] = entry.op_context;
    return WSH_PING_DONE;
}

const char *wsh_ping_why(const struct wsh_ping *ping)
{
    return ping->why;
}
