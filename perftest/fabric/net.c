/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects the NICs of all processes and lays out their memory of messages. */
#define _GNU_SOURCE
#include "perftest/fabric/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { NAME_MAX_LEN = 128, LINE = 64, SLOTS_MAX = 512, SLOTS_MIN = 2 };
#define INBOX_WANTED \
    ((size_t)64 << 20) /* bytes of receives, unless messages are so large that few would fit */

/* What the other processes need to reach a rail of this one. */
struct contact {
    char name[NAME_MAX_LEN];
    size_t message_max;
    uint64_t base, key;
};

struct contacts {
    int n_rails;
    struct contact rail[FAB_RAILS_MAX];
};

char *fab_source(const struct fab_net *net)
{
    return net->memory;
}

char *fab_dest(const struct fab_net *net, int from)
{
    return net->memory + (size_t)(1 + from) * net->max_len;
}

static char pattern(size_t i, size_t seed)
{
    return (char)(1 + (i * 11 + i / 239 + seed * 37) % 251);
}

void fab_fill(char *buffer, size_t len, int from)
{
    for (size_t i = 0; i < len; i++)
        buffer[i] = pattern(i, len + (size_t)from);
}

long fab_wrong(const char *buffer, size_t n, size_t offset, size_t len, int from)
{
    long wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong += buffer[i] != pattern(offset + i, len + (size_t)from);
    return wrong;
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* The same on every process: a message is cut alike at both ends. */
static void agree_on_limits(struct fab_net *net, size_t message_max, size_t rx_size)
{
    size_t len = net->max_len < message_max ? net->max_len : message_max;
    size_t fit;

    net->slot_len = round_up(len < LINE ? LINE : len, LINE);
    if (net->slot_len > message_max)
        net->slot_len = message_max / LINE * LINE;
    if (!net->slot_len)
        fab_fail("messages of at most %zu bytes are too small for this test", message_max);
    fit = INBOX_WANTED / (net->slot_len * (size_t)net->n_rails);
    fit = fit > SLOTS_MAX ? SLOTS_MAX : fit < SLOTS_MIN ? SLOTS_MIN : fit;
    if (net->boot.alone)
        fit = SLOTS_MIN;
    net->n_slots = (int)(rx_size && rx_size < fit ? rx_size : fit);
}

static void map_memory(struct fab_net *net)
{
    size_t data = (size_t)(1 + net->boot.n) * net->max_len;

    net->size = data + net->slot_len * (size_t)net->n_slots * (size_t)net->n_rails;
    net->memory = mmap(NULL, net->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (net->memory == MAP_FAILED)
        fab_fail("no %zu bytes of memory; take smaller messages (-e) or fewer NICs (--nics)", net->size);
    net->ops = calloc(FAB_OPS, sizeof(*net->ops));
    if (!net->ops)
        fab_fail("no memory for %d operations", FAB_OPS);
    for (int i = 0; i < FAB_OPS; i++) {
        net->ops[i].next = net->free_ops;
        net->free_ops = &net->ops[i];
    }
}

static void register_memory(struct fab_net *net, struct fab_rail *rail, struct contact *mine)
{
    const uint64_t access = FI_SEND | FI_RECV | FI_WRITE | FI_READ | FI_REMOTE_WRITE | FI_REMOTE_READ;
    size_t len = sizeof(mine->name);

    fab_must(rail, fi_mr_reg(rail->domain, net->memory, net->size, access, 0, 1, 0, &rail->mr, NULL),
             "fi_mr_reg (ulimit -l allows enough?)");
    fab_must(rail, fi_getname(&rail->ep->fid, mine->name, &len), "fi_getname");
    mine->key = fi_mr_key(rail->mr);
    mine->base = rail->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)net->memory : 0;
}

static void insert_peers(struct fab_net *net, const struct contacts *all)
{
    for (int r = 0; r < net->n_rails; r++) {
        struct fab_rail *rail = &net->rails[r];

        for (int i = 0; i < net->boot.n; i++) {
            const struct contact *theirs = &all[i].rail[r];
            int n = i == net->boot.me ? 1 : fi_av_insert(rail->av, theirs->name, 1, &rail->addr[i], 0, NULL);

            fab_must(rail, n == 1 ? 0 : n < 0 ? n : -FI_EADDRNOTAVAIL, "fi_av_insert");
            rail->base[i] = theirs->base;
            rail->key[i] = theirs->key;
        }
    }
}

static void post_receives(struct fab_net *net)
{
    for (int r = 0; r < net->n_rails; r++) {
        struct fab_rail *rail = &net->rails[r];
        char *at =
            net->memory + net->size - net->slot_len * (size_t)net->n_slots * (size_t)(net->n_rails - r);

        rail->receives = calloc((size_t)net->n_slots, sizeof(*rail->receives));
        if (!rail->receives)
            fab_fail("no memory for %d receives", net->n_slots);
        for (int i = 0; i < net->n_slots; i++)
            fab_must(rail,
                     fi_recv(rail->ep, at + (size_t)i * net->slot_len, net->slot_len, fi_mr_desc(rail->mr),
                             FI_ADDR_UNSPEC, &rail->receives[i]),
                     "fi_recv");
    }
}

/* Exchanges the contacts of all processes. The least capable one limits the number of NICs and the message length. */
static void contacts_exchange(struct fab_net *net, struct contacts *all)
{
    struct contacts mine = {.n_rails = net->n_rails};
    size_t message_max = SIZE_MAX, rx_size = SIZE_MAX;

    for (int r = 0; r < net->n_rails; r++)
        mine.rail[r].message_max = net->rails[r].message_max;
    fab_boot_share(&net->boot, &mine, sizeof(mine), all);
    for (int i = 0; i < net->boot.n; i++) {
        if (all[i].n_rails != net->n_rails)
            fab_fail("process %d has %d NICs, and process %d has %d; give --nics", i, all[i].n_rails,
                     net->boot.me, net->n_rails);
        for (int r = 0; r < net->n_rails; r++)
            if (all[i].rail[r].message_max < message_max)
                message_max = all[i].rail[r].message_max;
    }
    for (int r = 0; r < net->n_rails; r++)
        if (net->rails[r].info->rx_attr->size < rx_size)
            rx_size = net->rails[r].info->rx_attr->size;
    agree_on_limits(net, message_max, rx_size);
    map_memory(net);
    for (int r = 0; r < net->n_rails; r++)
        register_memory(net, &net->rails[r], &mine.rail[r]);
    fab_boot_share(&net->boot, &mine, sizeof(mine), all);
}

bool fab_net_open(struct fab_net *net, size_t max_len)
{
    struct contacts *all = calloc((size_t)net->boot.n, sizeof(*all));

    if (!all)
        fab_fail("no memory for the addresses of %d processes", net->boot.n);
    net->max_len = round_up(max_len, 4096);
    if (!fab_rails_choose(net)) {
        if (net->boot.me == 0)
            perf_complain(
                "skip: no libfabric provider or fabric '%s' of reliable datagrams with remote memory "
                "access and immediate data; fi_info lists them",
                net->opts->common.provider);
        free(all);
        return false;
    }
    for (int r = 0; r < net->n_rails; r++)
        fab_rail_open(net, &net->rails[r]);
    contacts_exchange(net, all);
    insert_peers(net, all);
    free(all);
    post_receives(net);
    fab_boot_barrier(&net->boot);
    net->boot.serve = fab_serve;
    net->boot.arg = net;
    return true;
}

void fab_net_close(struct fab_net *net)
{
    fab_finish(net);
    fab_boot_barrier(&net->boot);
    net->boot.serve = NULL;
    for (int r = 0; r < net->n_rails; r++)
        fab_rail_close(&net->rails[r]);
    munmap(net->memory, net->size);
    free(net->ops);
}
