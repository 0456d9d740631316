/* SPDX-License-Identifier: BSD-3-Clause */
/* A staging context for staging, without a network. */
#define _GNU_SOURCE
#include "test/contract/stage_context.h"

#include "test/contract/group.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LETTERS = 64, OPENS_MAX = 8 };

/* Something on its way: bytes, then an atomic on a word. */
struct letter {
    char *to, *word;
    const void *src;
    size_t len;
    enum wsh_amo_op op;
    uint64_t value;
    int pe;
    struct wsh_done *done;
};

struct context {
    struct wsh_tp base;
    pthread_mutex_t lock;
    unsigned seed;
    size_t n;
    struct letter letter[LETTERS];
};

static char *memory; /* of all PEs, for every time that they open */
static int opened;   /* times that this PE has */

void stage_context_reset(int n)
{
    size_t len = (size_t)STAGE_CONTEXT_BYTES * GROUP_MAX * OPENS_MAX;

    (void)n;
    if (memory)
        munmap(memory, len);
    memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    opened = 0;
}

/* Never the same: what a peer still sends to the former one must not be found in the next. */
char *stage_context_memory(int pe)
{
    if (opened == OPENS_MAX)
        abort();
    return memory + (size_t)STAGE_CONTEXT_BYTES * (size_t)(opened++ * GROUP_MAX + pe);
}

static int context_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    struct context *context = calloc(1, sizeof *context);

    if (!context)
        return -ENOMEM;
    context->seed = 1 + (unsigned)params->my_pe;
    pthread_mutex_init(&context->lock, NULL);
    *limits = (struct wsh_tp_limits){0};
    *tp = &context->base;
    return 0;
}

static void context_close(struct wsh_tp *tp)
{
    pthread_mutex_destroy(&((struct context *)tp)->lock);
    free(tp);
}

static int context_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                                void *blob, size_t *blob_len)
{
    (void)tp;
    *lmem = malloc(sizeof **lmem);
    if (!*lmem)
        return -ENOMEM;
    **lmem = (struct wsh_lmem){mem->seg, mem->base, mem->len};
    memcpy(blob, &mem->base, sizeof mem->base);
    *blob_len = sizeof mem->base;
    return 0;
}

static void context_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    (void)tp;
    free(lmem);
}

static int context_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                              struct wsh_rmem *rmem)
{
    *rmem = (struct wsh_rmem){.tp = tp, .pe = pe, .seg = seg, .len = STAGE_CONTEXT_BYTES};
    memcpy(&rmem->map, blob, blob_len);
    return 0;
}

static int context_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    *tctx = malloc(sizeof **tctx);
    if (!*tctx)
        return -ENOMEM;
    (*tctx)->tp = tp;
    return 0;
}

static void context_ctx_close(struct wsh_tctx *tctx)
{
    free(tctx);
}

static unsigned draw(struct context *context)
{
    context->seed = context->seed * 1103515245u + 12345u;
    return context->seed >> 16;
}

static int post(struct wsh_tctx *tctx, const struct letter *letter)
{
    struct context *context = (struct context *)tctx->tp;
    int rc = -EAGAIN;

    pthread_mutex_lock(&context->lock);
    if (context->n < LETTERS && draw(context) % 4) {
        context->letter[context->n++] = *letter;
        if (letter->done)
            __atomic_fetch_add(&letter->done->left, 1, __ATOMIC_RELAXED);
        rc = 0;
    }
    pthread_mutex_unlock(&context->lock);
    return rc;
}

static int context_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                              size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    const struct letter letter = {
        rmem->map + off, sig->rmem->map + sig->off, src, len, sig->op, sig->value, rmem->pe, done};

    return post(tctx, &letter);
}

static int context_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off,
                       const struct wsh_amo *amo, void *result, struct wsh_done *done)
{
    const struct letter letter = {NULL, rmem->map + off, NULL, 0, amo->op, amo->operand, rmem->pe, done};

    return result ? -ENOTSUP : post(tctx, &letter);
}

/* The atomic is a release, at the latest. Partner: the acquire of wsh_stage_load, and of wsh_done_is. */
static void deliver(const struct letter *letter)
{
    if (letter->len)
        memcpy(letter->to, letter->src, letter->len);
    wsh_order_leaves();
    wsh_amo_apply64(letter->word, letter->op, letter->value, 0);
    if (letter->done)
        __atomic_fetch_sub(&letter->done->left, 1, __ATOMIC_RELEASE);
}

/* One of those that are there, if any; who holds the lock is at it. */
static int context_progress(struct wsh_tp *tp)
{
    struct context *context = (struct context *)tp;
    size_t at;
    int moved = 0;

    if (pthread_mutex_trylock(&context->lock))
        return 0;
    if (context->n) {
        at = draw(context) % context->n;
        deliver(&context->letter[at]);
        context->letter[at] = context->letter[--context->n];
        moved = 1;
    }
    pthread_mutex_unlock(&context->lock);
    return moved;
}

const struct wsh_tp_ops stage_context_ops = {.name = "context",
                                             .open = context_open,
                                             .close = context_close,
                                             .mem_register = context_mem_register,
                                             .mem_release = context_mem_release,
                                             .mem_attach = context_mem_attach,
                                             .ctx_open = context_ctx_open,
                                             .ctx_close = context_ctx_close,
                                             .put_signal = context_put_signal,
                                             .amo = context_amo,
                                             .progress = context_progress};
