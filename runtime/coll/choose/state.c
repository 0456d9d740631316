/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets up a team's collectives: which members share memory, and where the sync area is. */
#include "runtime/coll/choose/state.h"

#include "runtime/coll/choose/dispatch.h"
#include "runtime/coll/memory/pool.h"
#include "runtime/job/job.h"
#include "runtime/op/op.h"
#include "runtime/op/order.h"
#include "runtime/op/rma.h"
#include "runtime/op/signal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Domains in the order of their first members. */
static void domains_sort(const struct wsh_team *team, struct wsh_coll *coll)
{
    for (int pe = 0; pe < team->n_pes; pe++) {
        int home = team->job->domain[team->members[pe]], d = 0;

        while (d < coll->n_domains && team->job->domain[team->members[coll->leader[d]]] != home)
            d++;
        if (d == coll->n_domains)
            coll->leader[coll->n_domains++] = pe;
        coll->domain[pe] = d;
        coll->all[pe] = pe;
    }
}

static void locals_find(const struct wsh_team *team, struct wsh_coll *coll)
{
    coll->my_domain = team->my_pe < 0 ? -1 : coll->domain[team->my_pe];
    for (int pe = 0; pe < team->n_pes; pe++) {
        if (coll->domain[pe] != coll->my_domain)
            continue;
        if (pe == team->my_pe)
            coll->my_local = coll->n_local;
        coll->local[coll->n_local++] = pe;
    }
}

static void column_find(const struct wsh_team *team, struct wsh_coll *coll, int *seen, bool *even, bool *rows)
{
    *even = *rows = true;
    for (int pe = 0; pe < team->n_pes; pe++)
        if (seen[coll->domain[pe]]++ == coll->my_local)
            coll->column[coll->domain[pe]] = pe;
    for (int pe = 1; pe < team->n_pes; pe++)
        *rows &= coll->domain[pe] >= coll->domain[pe - 1];
    for (int d = 0; d < coll->n_domains; d++)
        *even &= seen[d] == coll->n_local;
}

/*
 * With more members than cores, all words are read in one step: each further step would cost a turn of every member on
 * a core.
 */
static int steps_find(const struct wsh_team *team, struct wsh_coll *coll)
{
    long max = team->job->env.sync_linear_max;
    struct wsh_steps_plan plan = {team->n_pes, INT_MAX, coll->domain};

    if (coll->n_domains > 1 || team->my_pe < 0)
        return 0;
    if (!team->job->oversubscribed && max < INT_MAX)
        plan.arity = max < WSH_STEPS_ARITY ? WSH_STEPS_ARITY : (int)max;
    return wsh_steps_make(&coll->steps, &plan, team->my_pe);
}

/* The layout, the sync of the team, and that of its leaders among themselves. */
static void sync_choose(const struct wsh_team *team, struct wsh_coll *coll)
{
    enum wsh_layout apart = team->job->oversubscribed ? WSH_LAYOUT_FEW_CORES : WSH_LAYOUT_APART;
    int n = team->n_pes;

    coll->layout = coll->n_domains == 1   ? WSH_LAYOUT_ONE
                   : coll->n_domains == n ? WSH_LAYOUT_APART
                                          : WSH_LAYOUT_HOSTS;
    coll->sync =
        wsh_choice_find(WSH_COLL_SYNC, coll->layout == WSH_LAYOUT_APART ? apart : coll->layout, n, 0)->algo;
    coll->lead_sync = wsh_choice_find(WSH_COLL_SYNC, apart, coll->n_domains, 0)->algo;
}

int wsh_coll_settle(struct wsh_team *team, struct wsh_coll *coll, bool even, bool rows)
{
    const struct wsh_job *job = team->job;

    coll->unit = -1;
    coll->met = wsh_choice_met(&(struct wsh_choice_team){.n_pes = team->n_pes,
                                                         .n_domains = coll->n_domains,
                                                         .nics = job->nics,
                                                         .even = even,
                                                         .rows = rows,
                                                         .cores = !job->oversubscribed,
                                                         .by_sockets = job->by_sockets});
    sync_choose(team, coll);
    team->coll = coll;
    return steps_find(team, coll);
}

static int coll_allocate(struct wsh_coll *coll, int n_pes)
{
    size_t n = (size_t)n_pes;

    coll->all = calloc(6 * n, sizeof *coll->all);
    coll->peer = calloc(n, sizeof *coll->peer);
    if (!coll->all || !coll->peer)
        return -ENOMEM;
    coll->domain = coll->all + n;
    coll->leader = coll->all + 2 * n;
    coll->local = coll->all + 3 * n;
    coll->column = coll->all + 4 * n;
    return 0;
}

static void coll_release(struct wsh_coll *coll)
{
    free(coll->all);
    free(coll->peer);
    wsh_steps_free(&coll->steps);
    free(coll);
}

/*
 * Requests no acks: a wait in a collective waits for flags of members, and acks of its own sends would only delay
 * these.
 */
static int coll_ctx_open(struct wsh_team *team, struct wsh_ctx *ctx)
{
    int rc = wsh_ctx_init(ctx, team->job, team, 0);

    for (unsigned tp = 0; tp < team->job->n_tps && !rc; tp++)
        ctx->tctx[tp]->lazy = true;
    return rc;
}

int wsh_coll_prepare(struct wsh_team *team)
{
    struct wsh_coll *coll = calloc(1, sizeof *coll);
    bool even, rows;
    int rc = coll ? coll_allocate(coll, team->n_pes) : -ENOMEM;

    if (!rc)
        rc = coll_ctx_open(team, &coll->ctx);
    if (rc) {
        if (coll)
            coll_release(coll);
        return rc;
    }
    domains_sort(team, coll);
    locals_find(team, coll);
    column_find(team, coll, coll->all + 5 * team->n_pes, &even, &rows);
    rc = wsh_coll_settle(team, coll, even, rows);
    if (rc)
        wsh_coll_close(team);
    return rc;
}

static void area_widen(struct wsh_sync_area *area, const struct wsh_job *job, int n_pes)
{
    wsh_sync_area_widen(area, n_pes, job->n_domains > 1 && n_pes == job->n_pes);
}

void wsh_coll_attach(struct wsh_team *team, char *base, int unit)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_job *job = team->job;

    coll->base = base;
    coll->unit = unit;
    coll->area = wsh_sync_area_of_job(job, team->n_pes);
    if (unit < 0)
        area_widen(&coll->area, job, team->n_pes);
    for (int pe = 0; pe < team->n_pes; pe++)
        coll->peer[pe] = wsh_coll_map(team, base, coll->area.len, pe);
}

void wsh_coll_detach(struct wsh_team *team)
{
    struct wsh_coll *coll = team->coll;

    if (coll->unit >= 0)
        wsh_pool_give(&team->job->pool, coll->unit, coll->area.len);
    coll->unit = -1;
}

int wsh_coll_open(struct wsh_team *team, int n_max)
{
    struct wsh_sync_area area = wsh_sync_area_of_job(team->job, n_max);
    char *base;
    int rc;

    area_widen(&area, team->job, n_max);
    base = wsh_heap_reserve(&team->job->heap, area.len, WSH_SYNC_AREA_LINE);
    rc = base ? wsh_coll_prepare(team) : -ENOMEM;
    if (!rc)
        wsh_coll_attach(team, base, -1);
    return rc;
}

void wsh_coll_close(struct wsh_team *team)
{
    if (!team->coll)
        return;
    wsh_ctx_fini(&team->coll->ctx);
    coll_release(team->coll);
    team->coll = NULL;
}

void *wsh_coll_map(const struct wsh_team *team, const void *sym, size_t len, int member)
{
    const struct wsh_rmem *rmem;
    size_t off;

    if (member == team->my_pe)
        return (void *)sym;
    rmem = wsh_job_rmem(team->job, sym, len, team->members[member], &off);
    return rmem && rmem->map ? rmem->map + off : NULL;
}

char *wsh_coll_peer(const struct wsh_team *team, int member)
{
    return team->coll->peer[member];
}

bool wsh_coll_is_host(const struct wsh_team *team, const void *addr)
{
    size_t off;

    return !team->job->heap.device || wsh_heap_find(&team->job->heap, addr, 1, &off) < WSH_SEG_DEVICE;
}

/* All members of the domain get the same answer: what one of them can map, all can. */
bool wsh_coll_can_pull(const struct wsh_team *team, const void *dest, const void *src, size_t len)
{
    const struct wsh_coll *coll = team->coll;
    int other = coll->local[coll->my_local == 0 && coll->n_local > 1];

    return wsh_coll_is_host(team, dest) && wsh_coll_is_host(team, src) &&
           wsh_coll_map(team, src, len, other) && wsh_coll_map(team, dest, len, other);
}

static bool needs_are_met(const struct wsh_team *team, unsigned needs, const struct wsh_coll_request *request)
{
    needs &= ~team->coll->met;
    if (!team->job->heap.device)
        needs &= ~(unsigned)(WSH_NEED_HOST | WSH_NEED_HOST_DEST);
    if (!needs)
        return true;
    if (needs & ~(unsigned)WSH_NEEDS_OF_CALL)
        return false;
    if (needs & WSH_NEED_MAPPED)
        return wsh_coll_can_pull(team, request->dest, request->src, request->span);
    return wsh_coll_is_host(team, request->dest) &&
           (!(needs & WSH_NEED_HOST) || wsh_coll_is_host(team, request->src));
}

enum wsh_algo wsh_coll_choose(const struct wsh_team *team, const struct wsh_coll_request *request)
{
    enum wsh_layout layout = team->coll->layout;
    const struct wsh_choice *row = wsh_choice_find(request->routine, layout, request->n_pes, request->len);

    while (row->needs && !needs_are_met(team, row->needs, request))
        row = wsh_choice_next(row, layout, request->n_pes, request->len);
    return row->algo;
}

int wsh_coll_copy_own(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    int rc;

    if (dest == src || !len)
        return 0;
    if (wsh_coll_is_host(team, dest) && wsh_coll_is_host(team, src)) {
        memcpy(dest, src, len);
        return 0;
    }
    rc = wsh_put_nbi(&team->coll->ctx, dest, src, len, team->my_pe);
    return rc ? rc : wsh_pe_quiet(&team->coll->ctx, &team->my_pe, 1); /* complete, for who reads it next */
}

/* Uses another stream, that of the default context: two copies on one stream take twice as long. */
int wsh_coll_copy_beside(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    struct wsh_job *job = team->job;

    return dest == src || !len
               ? 0
               : wsh_get_counted(&job->ctx, dest, src, len, team->members[team->my_pe], &team->coll->sending);
}

static int send_short(struct wsh_coll *coll, void *dest, const void *src, size_t len,
                      const struct wsh_signal *signal, int member)
{
    return wsh_put_signal(&coll->ctx, dest, src, len, signal, member);
}

static int send_counted(struct wsh_coll *coll, void *dest, const void *src, size_t len,
                        const struct wsh_signal *signal, int member)
{
    return wsh_put_signal_counted(&coll->ctx, dest, src, len, signal, member, &coll->sending);
}

wsh_send_fn *const wsh_send_by[WSH_ALGOS] = {
    [WSH_ALGO_SHORT] = send_short,
    [WSH_ALGO_COUNTED] = send_counted,
};

int wsh_coll_send(struct wsh_coll *coll, void *dest, const void *src, size_t len,
                  const struct wsh_signal *signal, int member)
{
    enum wsh_algo algo = wsh_choice_find(WSH_COLL_SEND, coll->layout, coll->ctx.job->n_pes, len)->algo;

    return wsh_send_by[algo](coll, dest, src, len, signal, member);
}

int wsh_coll_sent(struct wsh_coll *coll)
{
    return wsh_op_wait(coll->ctx.job, &coll->sending, "a collective");
}
