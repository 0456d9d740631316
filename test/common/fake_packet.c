/* SPDX-License-Identifier: BSD-3-Clause */
/* The packets of the fake transport: their mailboxes, their delays, their order. */
#include "test/common/fake_packet.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock; /* everything */
    struct fake_settings settings;
    uint64_t random;
    unsigned long next_number, opened[FAKE_PES][FAKE_PES], reorderings;
    size_t in_progress;
    struct fake_packet *mail[FAKE_PES]; /* newest first */
} world = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fake_reset(const struct fake_settings *settings)
{
    pthread_mutex_lock(&world.lock);
    for (int pe = 0; pe < FAKE_PES; pe++)
        while (world.mail[pe]) {
            struct fake_packet *packet = world.mail[pe];

            world.mail[pe] = packet->next;
            free(packet->data);
            free(packet);
        }
    world.settings = *settings;
    world.random = settings->seed * 2 + 1;
    world.next_number = 1;
    world.reorderings = 0;
    world.in_progress = 0;
    memset(world.opened, 0, sizeof world.opened);
    pthread_mutex_unlock(&world.lock);
}

unsigned long fake_reorderings(void)
{
    return world.reorderings;
}

size_t fake_in_progress(void)
{
    return world.in_progress;
}

static unsigned random_below(unsigned limit)
{
    world.random = world.random * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(world.random >> 33) % limit;
}

size_t fake_out_to(const struct fake_ctx *ctx, int pe)
{
    size_t out = 0;

    for (int kind = 0; kind < FAKE_KINDS; kind++)
        out += __atomic_load_n(&ctx->out[pe][kind], __ATOMIC_ACQUIRE); /* partner: finish */
    return out;
}

/* False while something from before the last fence is under way to `pe`. */
static bool may_start(struct fake_ctx *ctx, int pe)
{
    if (ctx->peer[pe].epoch != ctx->epoch) {
        ctx->peer[pe].epoch = ctx->epoch;
        ctx->peer[pe].behind = true;
    }
    if (ctx->peer[pe].behind && fake_out_to(ctx, pe) > ctx->out[pe][FAKE_GET])
        return false;
    ctx->peer[pe].behind = false;
    return true;
}

static void post(struct fake_packet *packet)
{
    int box = packet->returning ? packet->from : packet->to;

    packet->number = world.next_number++;
    packet->next = world.mail[box];
    world.mail[box] = packet;
}

static int send_locked(struct wsh_tctx *tctx, const struct fake_packet *from, const void *data, bool fenced)
{
    struct fake_ctx *ctx = (struct fake_ctx *)tctx;
    unsigned *out = &ctx->out[from->to][from->kind];
    struct fake_packet *packet;

    if (fake_of(tctx)->room_used >= world.settings.room || (fenced && !may_start(ctx, from->to)))
        return -EAGAIN;
    packet = malloc(sizeof *packet);
    if (!packet)
        return -ENOMEM;
    *packet = *from;
    packet->ctx = ctx;
    packet->from = fake_of(tctx)->me;
    packet->data = malloc(from->len + 1);
    if (data)
        memcpy(packet->data, data, from->len);
    if (packet->done)
        __atomic_fetch_add(&packet->done->left, 1, __ATOMIC_RELAXED);
    __atomic_store_n(out, *out + 1, __ATOMIC_RELAXED);
    fake_of(tctx)->room_used++;
    world.in_progress++;
    post(packet);
    return 0;
}

int fake_send(struct wsh_tctx *tctx, const struct fake_packet *from, const void *data, bool fenced)
{
    int rc;

    pthread_mutex_lock(&world.lock);
    rc = send_locked(tctx, from, data, fenced);
    pthread_mutex_unlock(&world.lock);
    return rc;
}

/* Words are stored whole; release pairs with the acquire of whoever polls them. */
static void deliver(char *at, const char *data, size_t len)
{
    uint64_t word;

    if (len % 8 || (uintptr_t)at % 8) {
        memcpy(at, data, len);
        return;
    }
    for (size_t off = 0; off < len; off += 8) {
        memcpy(&word, data + off, 8);
        __atomic_store_n((uint64_t *)(void *)(at + off), word, __ATOMIC_RELEASE);
    }
}

/* At the target. */
static void open_packet(struct fake_packet *packet)
{
    unsigned long *opened = &world.opened[packet->from][packet->to];

    world.reorderings += packet->number < *opened;
    *opened = packet->number > *opened ? packet->number : *opened;
    if (packet->kind == FAKE_GET)
        memcpy(packet->data, packet->at, packet->len);
    if (packet->kind == FAKE_PUT || packet->kind == FAKE_SIGNAL)
        deliver(packet->at, packet->data, packet->len);
    if (packet->kind == FAKE_SIGNAL)
        wsh_amo_apply64(packet->sig_at, packet->amo.op, packet->amo.operand, 0);
    if (packet->kind == FAKE_AMO)
        packet->old = wsh_amo_apply(packet->at, packet->amo.op, packet->amo.width, packet->amo.operand,
                                    packet->amo.compare);
    packet->returning = true;
    post(packet);
}

/* Back at the source. */
static void finish(struct fake_packet *packet)
{
    unsigned *out = &packet->ctx->out[packet->to][packet->kind];

    if (packet->kind == FAKE_GET)
        memcpy(packet->local, packet->data, packet->len);
    if (packet->kind == FAKE_AMO && packet->local)
        wsh_amo_store_result(packet->local, packet->amo.width, packet->old);
    fake_of(&packet->ctx->base)->room_used--;
    world.in_progress--;
    __atomic_store_n(out, *out - 1, __ATOMIC_RELEASE); /* partner: out_to */
    if (packet->done)
        __atomic_fetch_sub(&packet->done->left, 1, __ATOMIC_RELEASE); /* partner: wsh_done_is */
    free(packet->data);
    free(packet);
}

/* The oldest packet in order of post, or any one. */
static struct fake_packet **choose(int me)
{
    struct fake_packet **at = &world.mail[me];
    unsigned n = 0;

    if (!*at || random_below(world.settings.delay + 1))
        return NULL;
    for (struct fake_packet *packet = *at; packet; packet = packet->next)
        n++;
    for (unsigned skip = world.settings.ordered ? n - 1 : random_below(n); skip; skip--)
        at = &(*at)->next;
    return at;
}

int fake_open_one(int me)
{
    struct fake_packet **at, *packet = NULL;

    pthread_mutex_lock(&world.lock);
    at = choose(me);
    if (at) {
        packet = *at;
        *at = packet->next;
        if (packet->returning)
            finish(packet);
        else
            open_packet(packet);
    }
    pthread_mutex_unlock(&world.lock);
    return packet != NULL;
}
