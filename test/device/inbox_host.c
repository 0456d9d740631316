/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of test/device/inbox_on_cpu: the stage's own code; the messages are made, and applied, here. */
#include "test/device/inbox_host.h"

#include "runtime/gpu/stage/state.h"

#include <sched.h>
#include <stdlib.h>

enum { SLOTS = 512, STREAM_OPS = 16 };
#define NO_MESSAGE UINT64_MAX

struct inbox_host {
    struct wsh_stage stage;
    struct wsh_stage_peer peer;
    struct wsh_inbox shared;
    struct inbox_memory *memory;
    struct wsh_stage_head head[SLOTS];
    uint64_t payload[SLOTS][INBOX_WORDS];
    struct wsh_rmem mine;
    uint64_t stream[STREAM_OPS]; /* what the stream was given, by its number: the message's */
    unsigned polls;
    uint64_t wrong;
};

/* One in three is of one of these kinds, in turn; the others are puts with signal. */
static enum wsh_stage_kind inbox_kind(uint64_t pos)
{
    static const enum wsh_stage_kind kinds[INBOX_KINDS] = {[INBOX_SIGNAL] = WSH_STAGE_SIGNAL,
                                                           [INBOX_TURN] = WSH_STAGE_FETCH,
                                                           [INBOX_LAST] = WSH_STAGE_AMO,
                                                           [INBOX_PUT] = WSH_STAGE_PUT,
                                                           [INBOX_GET] = WSH_STAGE_GET};

    return kinds[inbox_what(pos)];
}

/* Message `pos`: its number in every word, then one more of what is counted, or only the one or the other. */
static void make(struct inbox_host *host, uint64_t pos)
{
    struct wsh_stage_head *head = &host->head[pos % SLOTS];
    enum wsh_stage_kind kind = inbox_kind(pos);
    size_t slot = pos % INBOX_SLOTS;

    *head = (struct wsh_stage_head){.kind = (uint8_t)kind,
                                    .op = WSH_AMO_CSWAP,
                                    .width = 8,
                                    .signal_op = WSH_AMO_ADD,
                                    .len = INBOX_WORDS * 8 - (uint32_t)(pos % 3),
                                    .off = (size_t)((char *)host->memory->slot[slot] - (char *)host->memory),
                                    .signal_off = offsetof(struct inbox_memory, count),
                                    .value = 1,
                                    .compare = 0};
    if (kind == WSH_STAGE_FETCH) {
        head->len = 8;
        head->off = offsetof(struct inbox_memory, turn);
        head->compare = pos / 3 / INBOX_KINDS;
        head->value = pos / 3 / INBOX_KINDS + 1;
    } else if (kind == WSH_STAGE_AMO) {
        head->len = 8;
        head->op = WSH_AMO_SET;
        head->off = offsetof(struct inbox_memory, last);
        head->value = pos;
    }
    for (size_t i = 0; i < INBOX_WORDS; i++)
        host->payload[pos % SLOTS][i] = pos;
}

static void apply(struct inbox_host *host, uint64_t pos)
{
    const struct wsh_stage_head *head = &host->head[pos % SLOTS];
    uint64_t *payload = host->payload[pos % SLOTS], old;
    char *to = (char *)host->memory + head->off;

    switch (head->kind) {
    case WSH_STAGE_FETCH:
    case WSH_STAGE_AMO:
        old = wsh_amo_apply(to, (enum wsh_amo_op)head->op, 8, head->value, head->compare);
        if (head->kind == WSH_STAGE_FETCH)
            *payload = old;
        return;
    case WSH_STAGE_GET: memcpy(payload, to, head->len); return;
    default: memcpy(to, payload, head->len);
    }
    if (head->kind == WSH_STAGE_SIGNAL)
        wsh_amo_apply((char *)host->memory + head->signal_off, WSH_AMO_ADD, 8, head->value, 0);
}

/* To the stream, which applies messages later, in their order. */
static int issue(struct wsh_stage *stage, uint64_t pos)
{
    struct inbox_host *host = (struct inbox_host *)stage;

    if (stage->issued - stage->landed == STREAM_OPS)
        return -EAGAIN;
    host->stream[stage->issued++ % STREAM_OPS] = pos;
    return 0;
}

int wsh_stage_in_apply(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos)
{
    int rc = peer == &((struct inbox_host *)stage)->peer ? issue(stage, pos) : -EINVAL;

    if (rc)
        return rc;
    stage->in_issued = stage->issued;
    stage->in_applied++;
    return 0;
}

int wsh_stage_gpu_probe(struct wsh_stage *stage)
{
    return issue(stage, NO_MESSAGE);
}

/* The stream goes on, at its own pace. */
static void poll_stream(struct inbox_host *host)
{
    struct wsh_stage *stage = &host->stage;
    uint64_t pos = host->stream[stage->landed % STREAM_OPS];

    if (stage->landed == stage->issued || ++host->polls % 4)
        return;
    if (pos != NO_MESSAGE)
        apply(host, pos);
    stage->landed++;
}

struct inbox_host *inbox_host_open(struct inbox_memory *memory)
{
    struct inbox_host *host = calloc(1, sizeof *host);

    if (!host)
        abort();
    host->memory = memory;
    host->mine = (struct wsh_rmem){.map = (char *)memory, .len = sizeof *memory};
    host->stage.inbox.shared = &host->shared;
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

    poll_stream(host);
    switch (wsh_stage_inbox_dispatch(&host->stage, &host->head[pos % SLOTS])) {
    case WSH_STAGE_HELD: return false;
    case WSH_STAGE_BY_STREAM:
        if (wsh_stage_in_apply(&host->stage, &host->peer, pos))
            return false;
        break;
    default:
        wsh_stage_inbox_queue(&host->stage, &host->peer, &host->head[pos % SLOTS], &host->mine, &host->mine,
                              (char *)host->payload[pos % SLOTS]);
    }
    host->peer.taken++;
    return true;
}

/* A get brings what was put before it, and nothing that was put later. */
static void check_gets(struct inbox_host *host, uint64_t from, uint64_t to)
{
    for (uint64_t pos = from; pos < to; pos++)
        for (size_t i = 0; inbox_what(pos) == INBOX_GET && i + 1 < INBOX_WORDS; i++)
            host->wrong += host->payload[pos % SLOTS][i] != inbox_writer_before(pos);
}

void inbox_host_run(struct inbox_host *host, uint64_t from, uint64_t to)
{
    const struct wsh_stage_inbox *in = &host->stage.inbox;

    for (uint64_t pos = from; pos < to; pos++) {
        make(host, pos);
        while (!give(host))
            if (!wsh_stage_inbox_progress(&host->stage, wsh_stage_in_apply))
                sched_yield();
        while (in->handed - in->pulled > SLOTS / 4) {
            poll_stream(host);
            wsh_stage_inbox_progress(&host->stage, wsh_stage_in_apply);
        }
    }
    while (in->handed != in->pulled || host->stage.landed != host->stage.issued) {
        poll_stream(host);
        if (!wsh_stage_inbox_progress(&host->stage, wsh_stage_in_apply))
            sched_yield();
    }
    check_gets(host, from, to);
}

struct inbox_counts inbox_host_counts(const struct inbox_host *host)
{
    return (struct inbox_counts){host->stage.inbox.pulled, host->stage.in_applied,
                                 host->stage.inbox.taken_back, host->wrong};
}
