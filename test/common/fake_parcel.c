/* SPDX-License-Identifier: BSD-3-Clause */
/* The parcels of the fake transport: their mailboxes, their delays, their order. */
#include "test/common/fake_parcel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock; /* everything */
    struct fake_settings settings;
    uint64_t random;
    unsigned long next_number, opened[FAKE_PES][FAKE_PES], reorderings;
    size_t under_way;
    struct fake_parcel *mail[FAKE_PES]; /* newest first */
} world = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fake_reset(const struct fake_settings *settings)
{
    pthread_mutex_lock(&world.lock);
    for (int pe = 0; pe < FAKE_PES; pe++)
        while (world.mail[pe]) {
            struct fake_parcel *parcel = world.mail[pe];

            world.mail[pe] = parcel->next;
            free(parcel->data);
            free(parcel);
        }
    world.settings = *settings;
    world.random = settings->seed * 2 + 1;
    world.next_number = 1;
    world.reorderings = 0;
    world.under_way = 0;
    memset(world.opened, 0, sizeof world.opened);
    pthread_mutex_unlock(&world.lock);
}

unsigned long fake_reorderings(void)
{
    return world.reorderings;
}

size_t fake_under_way(void)
{
    return world.under_way;
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

static void post(struct fake_parcel *parcel)
{
    int box = parcel->returning ? parcel->from : parcel->to;

    parcel->number = world.next_number++;
    parcel->next = world.mail[box];
    world.mail[box] = parcel;
}

static int send_locked(struct wsh_tctx *tctx, const struct fake_parcel *from, const void *data, bool fenced)
{
    struct fake_ctx *ctx = (struct fake_ctx *)tctx;
    unsigned *out = &ctx->out[from->to][from->kind];
    struct fake_parcel *parcel;

    if (fake_of(tctx)->room_used >= world.settings.room || (fenced && !may_start(ctx, from->to)))
        return -EAGAIN;
    parcel = malloc(sizeof *parcel);
    if (!parcel)
        return -ENOMEM;
    *parcel = *from;
    parcel->ctx = ctx;
    parcel->from = fake_of(tctx)->me;
    parcel->data = malloc(from->len + 1);
    if (data)
        memcpy(parcel->data, data, from->len);
    if (parcel->done)
        __atomic_fetch_add(&parcel->done->left, 1, __ATOMIC_RELAXED);
    __atomic_store_n(out, *out + 1, __ATOMIC_RELAXED);
    fake_of(tctx)->room_used++;
    world.under_way++;
    post(parcel);
    return 0;
}

int fake_send(struct wsh_tctx *tctx, const struct fake_parcel *from, const void *data, bool fenced)
{
    int rc;

    pthread_mutex_lock(&world.lock);
    rc = send_locked(tctx, from, data, fenced);
    pthread_mutex_unlock(&world.lock);
    return rc;
}

/* Words are stored whole; release pairs with the acquire of whoever polls them. */
static void deliver(char *place, const char *data, size_t len)
{
    uint64_t word;

    if (len % 8 || (uintptr_t)place % 8) {
        memcpy(place, data, len);
        return;
    }
    for (size_t off = 0; off < len; off += 8) {
        memcpy(&word, data + off, 8);
        __atomic_store_n((uint64_t *)(void *)(place + off), word, __ATOMIC_RELEASE);
    }
}

/* At the target. */
static void open_parcel(struct fake_parcel *parcel)
{
    unsigned long *opened = &world.opened[parcel->from][parcel->to];

    world.reorderings += parcel->number < *opened;
    *opened = parcel->number > *opened ? parcel->number : *opened;
    if (parcel->kind == FAKE_GET)
        memcpy(parcel->data, parcel->place, parcel->len);
    if (parcel->kind == FAKE_PUT || parcel->kind == FAKE_SIGNAL)
        deliver(parcel->place, parcel->data, parcel->len);
    if (parcel->kind == FAKE_SIGNAL)
        wsh_amo_apply64(parcel->sig_place, parcel->amo.op, parcel->amo.operand, 0);
    if (parcel->kind == FAKE_AMO)
        parcel->old = wsh_amo_apply(parcel->place, parcel->amo.op, parcel->amo.width, parcel->amo.operand,
                                    parcel->amo.compare);
    parcel->returning = true;
    post(parcel);
}

/* Back at the source. */
static void finish(struct fake_parcel *parcel)
{
    unsigned *out = &parcel->ctx->out[parcel->to][parcel->kind];

    if (parcel->kind == FAKE_GET)
        memcpy(parcel->local, parcel->data, parcel->len);
    if (parcel->kind == FAKE_AMO && parcel->local)
        wsh_amo_store_result(parcel->local, parcel->amo.width, parcel->old);
    fake_of(&parcel->ctx->base)->room_used--;
    world.under_way--;
    __atomic_store_n(out, *out - 1, __ATOMIC_RELEASE); /* partner: out_to */
    if (parcel->done)
        __atomic_fetch_sub(&parcel->done->left, 1, __ATOMIC_RELEASE); /* partner: wsh_done_is */
    free(parcel->data);
    free(parcel);
}

/* The oldest parcel in order of post, or any one. */
static struct fake_parcel **choose(int me)
{
    struct fake_parcel **at = &world.mail[me];
    unsigned n = 0;

    if (!*at || random_below(world.settings.delay + 1))
        return NULL;
    for (struct fake_parcel *parcel = *at; parcel; parcel = parcel->next)
        n++;
    for (unsigned skip = world.settings.ordered ? n - 1 : random_below(n); skip; skip--)
        at = &(*at)->next;
    return at;
}

int fake_open_one(int me)
{
    struct fake_parcel **at, *parcel = NULL;

    pthread_mutex_lock(&world.lock);
    at = choose(me);
    if (at) {
        parcel = *at;
        *at = parcel->next;
        if (parcel->returning)
            finish(parcel);
        else
            open_parcel(parcel);
    }
    pthread_mutex_unlock(&world.lock);
    return parcel != NULL;
}
