/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract over efa and staging together, with a provider that takes device memory (test/fake_hmem): puts and gets
 * go by the former, what the target's GPU must do by the latter. As the core does, an operation waits for what a fence
 * has ordered before it on the other path.
 */
#include "test/contract/group_gpu.h"
#include "test/contract/stack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const bool stack_hmem = true;
const struct wsh_tp_ops *const stack_context = NULL;

struct both {
    struct wsh_tctx base;
    struct wsh_tctx *part[PARTS]; /* of EFA and STAGE */
    unsigned epoch;
    struct {
        unsigned epoch, used, before; /* bits of parts */
    } paths[GROUP_MAX];
};

static struct stack *stack_of(struct wsh_tctx *tctx)
{
    return (struct stack *)tctx->tp;
}

/* The context's part, once nothing of the other paths is before it; else NULL. */
static struct wsh_tctx *take(struct wsh_tctx *tctx, int pe, int path)
{
    struct both *both = (struct both *)tctx;
    int other = path == EFA ? STAGE : EFA;

    if (both->paths[pe].epoch != both->epoch) {
        both->paths[pe].before |= both->paths[pe].used;
        both->paths[pe].used = 0;
        both->paths[pe].epoch = both->epoch;
    }
    if (both->paths[pe].before & 1u << other && stack_part[other]->pending(both->part[other], pe))
        return NULL;
    both->paths[pe].before &= ~(1u << other);
    both->paths[pe].used |= 1u << path;
    return both->part[path];
}

static int both_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    struct stack *stack = (struct stack *)tp;
    struct both *both = calloc(1, sizeof *both);
    int rc = both ? stack_part[EFA]->ctx_open(stack->tp[EFA], &both->part[EFA]) : -ENOMEM;

    if (!rc)
        rc = stack_part[STAGE]->ctx_open(stack->tp[STAGE], &both->part[STAGE]);
    if (rc)
        return rc;
    both->part[EFA]->tp = stack->tp[EFA];
    both->part[STAGE]->tp = stack->tp[STAGE];
    both->base.tp = tp;
    *tctx = &both->base;
    return 0;
}

static void both_close(struct wsh_tctx *tctx)
{
    struct both *both = (struct both *)tctx;

    stack_part[STAGE]->ctx_close(both->part[STAGE]);
    stack_part[EFA]->ctx_close(both->part[EFA]);
    free(both);
}

/* To a PE's own memory there is one path. */
static int path_to(struct wsh_tctx *tctx, int pe)
{
    return pe == stack_of(tctx)->me ? STAGE : EFA;
}

static const struct wsh_rmem *slot(struct wsh_tctx *tctx, const struct wsh_rmem *rmem)
{
    return path_to(tctx, rmem->pe) == EFA ? &stack_of(tctx)->by_efa[rmem->pe] : rmem;
}

static int both_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                    size_t len, struct wsh_done *done)
{
    int path = path_to(tctx, rmem->pe);
    struct wsh_tctx *part = take(tctx, rmem->pe, path);

    return part ? stack_part[path]->put(part, slot(tctx, rmem), off, src, len, done) : -EAGAIN;
}

static int both_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                    struct wsh_done *done)
{
    int path = path_to(tctx, rmem->pe);
    struct wsh_tctx *part = take(tctx, rmem->pe, path);

    return part ? stack_part[path]->get(part, slot(tctx, rmem), off, dst, len, done) : -EAGAIN;
}

static int both_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                    void *result, struct wsh_done *done)
{
    struct wsh_tctx *part = take(tctx, rmem->pe, STAGE);

    return part ? stack_part[STAGE]->amo(part, rmem, off, amo, result, done) : -EAGAIN;
}

static int both_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                           size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    struct wsh_tctx *stage = take(tctx, rmem->pe, STAGE), *efa;
    struct wsh_done *hold;
    int rc;

    if (!stage)
        return -EAGAIN;
    if (path_to(tctx, rmem->pe) == STAGE || len <= stack_of(tctx)->limits[EFA].copy_max)
        return stack_part[STAGE]->put_signal(stage, rmem, off, src, len, sig, done);
    efa = take(tctx, rmem->pe, EFA);
    rc = efa ? wsh_stage_signal_hold(stage, sig, done, &hold) : -EAGAIN;
    if (rc)
        return rc;
    rc = stack_part[EFA]->put(efa, slot(tctx, rmem), off, src, len, hold);
    wsh_stage_signal_release(stage, sig, hold, !rc);
    return rc;
}

static int both_fence(struct wsh_tctx *tctx)
{
    struct both *both = (struct both *)tctx;
    int rc = stack_part[EFA]->fence(both->part[EFA]);

    both->epoch += !rc;
    return rc;
}

static size_t both_pending(struct wsh_tctx *tctx, int pe)
{
    struct both *both = (struct both *)tctx;

    return stack_part[EFA]->pending(both->part[EFA], pe) + stack_part[STAGE]->pending(both->part[STAGE], pe);
}

static void both_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    struct both *both = (struct both *)tctx;

    stack_part[EFA]->describe(both->part[EFA], text, size);
    stack_part[STAGE]->describe(both->part[STAGE], text, size);
}

/* Becomes itself with the other libfabric, which has to be found before the program starts. */
static void take_library(void)
{
    const char *build = getenv("top_builddir"), *folders = getenv("LD_LIBRARY_PATH");
    char folder[PATH_MAX], all[2 * PATH_MAX], self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    if (folders && strstr(folders, "/test/fake_hmem"))
        return;
    snprintf(folder, sizeof folder, "%s/test/fake_hmem", build ? build : ".");
    snprintf(all, sizeof all, "%s%s%s", folder, folders ? ":" : "", folders ? folders : "");
    self[len > 0 ? len : 0] = '\0';
    setenv("LD_LIBRARY_PATH", all, 1);
    execl(self, self, (char *)NULL);
    printf("skip: cannot start %s again\n", self);
    exit(77);
}

__attribute__((constructor)) static void find_parts(void)
{
    stack_find_parts();
    take_library();
    stack_ops.ctx_open = both_open;
    stack_ops.ctx_close = both_close;
    stack_ops.put = both_put;
    stack_ops.get = both_get;
    stack_ops.amo = both_amo;
    stack_ops.put_signal = both_put_signal;
    stack_ops.fence = both_fence;
    stack_ops.pending = both_pending;
    stack_ops.describe = both_describe;
}

const struct group_path group_path = {.name = "hmem",
                                      .transport = "stage",
                                      .ops = &stack_ops,
                                      .provider = "tcp",
                                      .dies_loudly = true,
                                      .gpu = GROUP_FAKE_GPU};
