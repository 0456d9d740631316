/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims about completion: what pending counts, and that it tells the truth. */
#include "test/contract/group.h"
#include "test/contract/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_MS = 300 };

/* Serves for a while; while it does, whatever context says "nothing pending" must be believed by `holds`. */
static void watch(struct group_pe *pe, struct wsh_tctx *ctx, bool (*holds)(struct group_pe *pe),
                  const char *what)
{
    double start = group_now();

    while (group_now() - start < WATCH_MS * 1e-3 && group_spin(pe, start))
        if (!pe->ops->pending(ctx, -1) &&
            !group_check(pe, holds(pe), "%s: pending is 0 before the target holds it", what))
            return;
}

static bool holds_put(struct group_pe *pe)
{
    return group_load(pe->heap[1] + 64) == 11;
}

static bool holds_large(struct group_pe *pe)
{
    return !group_wrong(pe->heap[1] + 4096, 1 << 20, 5);
}

static bool holds_amo(struct group_pe *pe)
{
    return group_load(pe->heap[1] + 72) == 12;
}

static bool holds_signal(struct group_pe *pe)
{
    return group_load(pe->heap[1] + 80) == 13 && group_load(pe->heap[1] + 88) == 14;
}

/* Starts an operation, which a target that stands still may leave without room; true: it is under way. */
static bool try_start(struct group_pe *pe, int (*start)(struct group_pe *pe, void *arg), void *arg)
{
    double begin = group_now();
    int rc;

    while ((rc = start(pe, arg)) == -EAGAIN && group_now() - begin < WATCH_MS * 1e-3 && group_spin(pe, begin))
        ;
    group_check(pe, rc == 0 || rc == -EAGAIN, "start gave %d", rc);
    return rc == 0;
}

static int start_put(struct group_pe *pe, void *arg)
{
    return pe->ops->put(pe->ctx, &pe->rmem[1][WSH_SEG_HEAP], 64, arg, 8, NULL);
}

static int start_large(struct group_pe *pe, void *arg)
{
    return pe->ops->put(pe->ctx, &pe->rmem[1][WSH_SEG_HEAP], 4096, arg, 1 << 20, NULL);
}

static int start_amo(struct group_pe *pe, void *arg)
{
    const struct wsh_amo amo = {WSH_AMO_ADD, 8, 12, 0};

    (void)arg;
    return pe->ops->amo(pe->ctx, &pe->rmem[1][WSH_SEG_HEAP], 72, &amo, NULL, NULL);
}

static int start_signal(struct group_pe *pe, void *arg)
{
    const struct wsh_sig sig = {&pe->rmem[1][WSH_SEG_HEAP], 88, WSH_AMO_SET, 14};

    return pe->ops->put_signal(pe->ctx, &pe->rmem[1][WSH_SEG_HEAP], 80, arg, 8, &sig, NULL);
}

static const struct {
    const char *name;
    int (*start)(struct group_pe *pe, void *arg);
    bool (*holds)(struct group_pe *pe);
} delivered[] = {{"put of 8 bytes", start_put, holds_put},
                 {"atomic", start_amo, holds_amo},
                 {"put with signal", start_signal, holds_signal},
                 {"put of 1 MiB", start_large, holds_large}};

/* The target stands still meanwhile: what needs its help cannot be complete. */
static void until_delivered(struct group_pe *pe)
{
    uint64_t values[] = {11, 0, 13}, warm = 1;
    char *src = malloc(1 << 20);
    void *args[] = {&values[0], NULL, &values[2], src};

    group_fill(src, 1 << 20, 5);
    for (int i = 0; i < 4 && !group_failed(pe); i++) {
        if (pe->me == 0) /* connections are made lazily: make them now */
            group_put_done(pe, 1, 0, &warm, 8), group_quiet(pe);
        group_barrier(pe);
        if (pe->me == 1)
            group_await_still(pe, 0, i + 1);
        else {
            bool started = try_start(pe, delivered[i].start, args[i]);

            if (started)
                watch(pe, pe->ctx, delivered[i].holds, delivered[i].name);
            group_set_slot(pe, 0, i + 1);
            group_quiet(pe);
            group_check(pe, !started || delivered[i].holds(pe), "%s is not there after quiet",
                        delivered[i].name);
        }
        group_barrier(pe);
    }
    free(src);
}

void claim_pending_until_delivered(void)
{
    group_run(2, until_delivered);
}

/* PE 1 stands still, PE 2 serves; operations to PE 2 complete on their own context whatever PE 1 does. */
static void independent(struct group_pe *pe)
{
    struct wsh_tctx *still = pe->ctx, *lively = NULL;
    uint64_t value = 3;

    group_check(pe, !pe->ops->ctx_open(pe->tp, &lively), "second context");
    for (int other = 0; other < pe->n; other++)
        group_put_done(pe, other, 0, &value, 8);
    group_quiet(pe);
    group_barrier(pe);
    if (pe->me == 1)
        group_await_still(pe, 0, 1);
    if (pe->me == 2)
        group_await(pe, 0, 1);
    if (pe->me == 0) {
        group_amo(pe, 1, 64, WSH_AMO_ADD, 8, 1);
        group_put(pe, 1, 72, &value, 8);
        pe->ctx = lively;
        for (int i = 0; i < 100; i++) {
            group_amo(pe, 2, 64, WSH_AMO_ADD, 8, 1);
            group_put_done(pe, 2, 72, &value, 8);
        }
        group_quiet(pe);
        group_check(pe, group_load(pe->heap[2] + 64) == 100, "operations of the second context");
        pe->ctx = still;
        group_set_slot(pe, 0, 1);
        group_quiet(pe);
    }
    group_barrier(pe);
    pe->ops->ctx_close(lively);
}

void claim_contexts_independent(void)
{
    group_run(3, independent);
}

static void per_pe(struct group_pe *pe)
{
    uint64_t value = 3;
    double start;

    for (int other = 0; other < pe->n; other++)
        group_put_done(pe, other, 0, &value, 8);
    group_quiet(pe);
    group_barrier(pe);
    if (pe->me == 1)
        group_await_still(pe, 0, 1);
    if (pe->me == 2)
        group_await(pe, 0, 1);
    if (pe->me == 0) {
        group_amo(pe, 1, 64, WSH_AMO_ADD, 8, 1);
        group_amo(pe, 2, 64, WSH_AMO_ADD, 8, 1);
        for (start = group_now(); pe->ops->pending(pe->ctx, 2) && group_spin(pe, start);)
            ;
        group_check(pe, group_load(pe->heap[2] + 64) == 1, "nothing pending to PE 2, and not there");
        group_check(pe, pe->ops->pending(pe->ctx, 1) || group_load(pe->heap[1] + 64) == 1, "pending to PE 1");
        group_check(pe, pe->ops->pending(pe->ctx, -1) >= pe->ops->pending(pe->ctx, 1), "pending to all");
        group_set_slot(pe, 0, 1);
        group_quiet(pe);
    }
    group_barrier(pe);
}

void claim_pending_per_pe(void)
{
    group_run(3, per_pe);
}

static void describe(struct group_pe *pe)
{
    char text[256] = "by x: ";
    uint64_t value = 3;

    group_put_done(pe, 1 - pe->me, 0, &value, 8);
    group_quiet(pe);
    group_barrier(pe);
    if (pe->me == 1)
        group_await_still(pe, 0, 1);
    if (pe->me == 0) {
        pe->ops->describe(pe->ctx, text, sizeof text);
        group_check(pe, !strcmp(text, "by x: "), "nothing under way, but: %s", text);
        group_amo(pe, 1, 64, WSH_AMO_ADD, 8, 1);
        group_amo(pe, 1, 64, WSH_AMO_ADD, 8, 1);
        pe->ops->describe(pe->ctx, text, sizeof text);
        /* Asked after it: a GPU may end them at any time, and what is under way now was so then. */
        if (pe->ops->pending(pe->ctx, 1) == 2)
            group_check(pe, strstr(text, "by x: PE 1: 2 atomics"), "two atomics under way, but: %s", text);
        pe->ops->describe(pe->ctx, text, 8);
        group_set_slot(pe, 0, 1);
        group_quiet(pe);
    }
    group_barrier(pe);
}

void claim_describe(void)
{
    group_run(2, describe);
}

enum { MANY = 5000 };

static void thousands(struct group_pe *pe)
{
    uint64_t *values = malloc(MANY * sizeof *values), *back = calloc(MANY, sizeof *back);

    for (int i = 0; i < MANY; i++)
        values[i] = (uint64_t)(pe->me * MANY + i);
    group_barrier(pe);
    for (int i = 0; i < MANY && !group_failed(pe); i++)
        for (int other = 0; other < pe->n; other++) {
            group_put(pe, other, 4096 + 8 * (size_t)(pe->me * MANY + i), &values[i], 8);
            group_amo(pe, other, 64, WSH_AMO_ADD, 8, 1);
            group_get(pe, other, 1 << 20, &back[i], 8);
        }
    group_quiet(pe);
    group_barrier(pe);
    group_check(pe, group_load(pe->heap[pe->me] + 64) == (uint64_t)(MANY * pe->n), "%llu atomics of %d",
                (unsigned long long)group_load(pe->heap[pe->me] + 64), MANY * pe->n);
    for (int i = 0; i < MANY * pe->n; i++)
        if (!group_check(pe, group_load(pe->heap[pe->me] + 4096 + 8 * (size_t)i) == (uint64_t)i, "put %d", i))
            break;
    group_barrier(pe);
    free(values);
    free(back);
}

void claim_thousands_outstanding(void)
{
    group_run(2, thousands);
    group_run(4, thousands);
}
