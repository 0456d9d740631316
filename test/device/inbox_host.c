/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the host's side of test/device/inbox_on_cpu: the relay's own; the messages are made, and applied, here. */
#include "test/device/inbox_host.h"

#include "transports/relay/relay.h"

#include <sched.h>
#include <stdlib.h>

enum { PLACES = 512 };

struct inbox_host {
    struct relay relay;
    struct relay_peer peer;
    struct wsh_inbox shared;
    struct inbox_memory *memory;
    struct relay_head head[PLACES];
    uint64_t payload[PLACES][INBOX_WORDS];
    struct wsh_rmem mine;
};

/* Message `pos`: its number in every word, then one more of what is counted, or only the one or the other. */
static void make(struct inbox_host *host, uint64_t pos)
{
    struct relay_head *head = &host->head[pos % PLACES];
    static const enum relay_kind kinds[] = {RELAY_SIGNAL, RELAY_FETCH, RELAY_PUT, RELAY_GET};
    enum relay_kind kind = pos % 7 ? kinds[0] : kinds[pos / 7 % 4];
    size_t slot = pos % INBOX_SLOTS;

    *head = (struct relay_head){.kind = (uint8_t)kind,
                                .op = WSH_AMO_CSWAP,
                                .width = 8,
                                .signal_op = WSH_AMO_ADD,
                                .len = kind == RELAY_FETCH ? 8 : INBOX_WORDS * 8 - (uint32_t)(pos % 3),
                                .off = (size_t)((char *)host->memory->slot[slot] - (char *)host->memory),
                                .signal_off = offsetof(struct inbox_memory, count),
                                .value = 1,
                                .compare = 0};
    if (kind == RELAY_FETCH) {
        head->off = offsetof(struct inbox_memory, turn);
        head->compare = pos / 7 / 4;
        head->value = pos / 7 / 4 + 1;
    }
    for (size_t i = 0; i < INBOX_WORDS; i++)
        host->payload[pos % PLACES][i] = pos;
}

/* As the stream does it: at once. */
int relay_in_apply(struct relay *relay, struct relay_peer *peer, uint64_t pos)
{
    struct inbox_host *host = (struct inbox_host *)relay;
    const struct relay_head *head = &host->head[pos % PLACES];
    char *to = (char *)host->memory + head->off;

    if (peer != &host->peer)
        return -EINVAL;
    if (head->kind == RELAY_FETCH)
        host->payload[pos % PLACES][0] =
            wsh_amo_apply(to, (enum wsh_amo_op)head->op, 8, head->value, head->compare);
    else if (head->kind == RELAY_GET)
        memcpy(host->payload[pos % PLACES], to, head->len);
    else
        memcpy(to, host->payload[pos % PLACES], head->len);
    if (head->kind == RELAY_SIGNAL)
        wsh_amo_apply((char *)host->memory + head->signal_off, WSH_AMO_ADD, 8, head->value, 0);
    relay->in_applied++;
    return 0;
}

int relay_gpu_probe(struct relay *relay)
{
    relay->landed = ++relay->issued;
    return 0;
}

struct inbox_host *inbox_host_open(struct inbox_memory *memory)
{
    struct inbox_host *host = calloc(1, sizeof *host);

    if (!host)
        abort();
    host->memory = memory;
    host->mine = (struct wsh_rmem){.map = (char *)memory, .len = sizeof *memory};
    host->relay.inbox.shared = &host->shared;
    return host;
}

void inbox_host_close(struct inbox_host *host)
{
    free(host);
}

void *inbox_host_shared(struct inbox_host *host)
{
    return &host->shared;
}

/* Hands or applies the message at peer.taken; false: it is held. */
static bool give(struct inbox_host *host)
{
    uint64_t pos = host->peer.taken;

    switch (relay_inbox_way(&host->relay, host->head[pos % PLACES].len)) {
    case RELAY_HELD: return false;
    case RELAY_BY_STREAM: relay_in_apply(&host->relay, &host->peer, pos); break;
    default:
        relay_inbox_hand(&host->relay, &host->peer, &host->head[pos % PLACES], &host->mine, &host->mine,
                         (char *)host->payload[pos % PLACES]);
    }
    host->peer.taken++;
    return true;
}

void inbox_host_run(struct inbox_host *host, uint64_t from, uint64_t to)
{
    const struct relay_inbox *in = &host->relay.inbox;

    for (uint64_t pos = from; pos < to; pos++) {
        make(host, pos);
        while (!give(host))
            if (!relay_inbox_progress(&host->relay))
                sched_yield();
        while (in->handed - in->pulled > PLACES / 4)
            relay_inbox_progress(&host->relay);
    }
    while (in->handed != in->pulled)
        if (!relay_inbox_progress(&host->relay))
            sched_yield();
}

struct inbox_counts inbox_host_counts(const struct inbox_host *host)
{
    return (struct inbox_counts){host->relay.inbox.pulled, host->relay.in_applied,
                                 host->relay.inbox.taken_back};
}
