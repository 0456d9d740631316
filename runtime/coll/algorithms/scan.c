/* SPDX-License-Identifier: BSD-3-Clause */
/* Running sums over the members: small ones by LL lines, others slice by slice. */
#include "runtime/coll/coll.h"

#include "runtime/coll/memory/ll.h"
#include "runtime/coll/choose/dispatch.h"
#include "runtime/coll/algorithms/slices.h"
#include "runtime/op/op.h"
#include "runtime/op/order.h"

#include <string.h>

#define ROUTINE "a scan"
#define BLOCK ((size_t)8 << 10)

struct wsh_scan_call {
    const struct wsh_arith *arith;
    size_t n, len;
    bool exclusive;
};

static int scan_by_ll(struct wsh_team *team, char *dest, const char *src, const struct wsh_scan_call *scan)
{
    struct wsh_ll ll = wsh_ll_begin(team, ROUTINE);
    _Alignas(WSH_SYNC_AREA_LINE) char sum[WSH_LL_DATA] = {0};
    int last = scan->exclusive ? team->my_pe - 1 : team->my_pe, rc;

    wsh_ll_write(&ll, WSH_LL_OWN, src, scan->len);
    rc = wsh_ll_await(&ll, WSH_LL_OWN, team->coll->all, team->n_pes);
    if (!rc && last >= 0)
        memcpy(sum, wsh_ll_data(&ll, WSH_LL_OWN, 0), scan->len);
    for (int pe = 1; pe <= last && !rc; pe++)
        scan->arith->combine(sum, sum, wsh_ll_data(&ll, WSH_LL_OWN, pe), scan->n);
    memcpy(dest, sum, scan->len);
    wsh_ll_end(&ll);
    return rc;
}

/* The numbers of members [pe, pe + n), copied to `area`. */
static int numbers_fetch(struct wsh_team *team, const char *src, size_t len, int pe, int n, char *area)
{
    struct wsh_done done = {0};
    const void *theirs;
    int rc = 0;

    for (int i = 0; i < n && !rc; i++) {
        char *to = area + (size_t)i * len;

        rc = wsh_slice_fetch(team, pe + i, src, len, to, &theirs, &done);
        if (!rc && theirs != to)
            memcpy(to, theirs, len);
    }
    return rc ? rc : wsh_op_wait(team->job, &done, ROUTINE);
}

/*
 * One block of members [pe, pe + n): all are fetched before anything is written, since dest may be src. `sum` is the
 * sum of the members before; zero has all bits zero.
 */
static int scan_batch(struct wsh_team *team, char *dest, const char *src, const struct wsh_scan_call *scan,
                      int pe, int n, char *sum)
{
    _Alignas(WSH_SYNC_AREA_LINE) char area[WSH_SLICE_BLOCK], next[BLOCK];
    int rc = numbers_fetch(team, src, scan->len, pe, n, area);

    for (int i = 0; i < n && !rc; i++) {
        char *theirs = area + (size_t)i * scan->len;

        if (pe + i)
            scan->arith->combine(next, sum, theirs, scan->n);
        else
            memcpy(next, theirs, scan->len);
        memcpy(theirs, scan->exclusive ? sum : next, scan->len);
        memcpy(sum, next, scan->len);
        rc = wsh_slice_write(team, pe + i, dest, theirs, scan->len);
    }
    return rc ? rc : wsh_quiet(&team->coll->ctx);
}

static int scan_block(struct wsh_team *team, char *dest, const char *src, const struct wsh_scan_call *scan)
{
    _Alignas(WSH_SYNC_AREA_LINE) char sum[BLOCK] = {0};
    int batch = wsh_slice_batch(scan->len), rc = 0;

    for (int pe = 0; pe < team->n_pes && !rc; pe += batch)
        rc = scan_batch(team, dest, src, scan, pe, team->n_pes - pe < batch ? team->n_pes - pe : batch, sum);
    return rc;
}

/* The first sync says that every src and dest is ready, the second that every slice is written. */
static int scan_by_slices(struct wsh_team *team, char *dest, const char *src,
                          const struct wsh_scan_call *scan)
{
    size_t begin, end;
    int rc = wsh_sync(team, ROUTINE);

    wsh_slice(team->n_pes, team->my_pe, scan->len, &begin, &end);
    for (size_t at = begin; at < end && !rc; at += BLOCK) {
        size_t len = end - at < BLOCK ? end - at : BLOCK;
        const struct wsh_scan_call block = {scan->arith, len / scan->arith->width, len, scan->exclusive};

        rc = scan_block(team, dest + at, src + at, &block);
    }
    if (!rc)
        rc = wsh_quiet(&team->coll->ctx);
    return rc ? rc : wsh_sync(team, ROUTINE);
}

wsh_scan_fn *const wsh_scan_by[WSH_ALGOS] = {
    [WSH_ALGO_LL] = scan_by_ll,
    [WSH_ALGO_SLICES] = scan_by_slices,
};

int wsh_scan(struct wsh_team *team, void *dest, const void *src, size_t nelems, const struct wsh_arith *arith,
             bool exclusive)
{
    const struct wsh_scan_call scan = {arith, nelems, nelems * arith->width, exclusive};
    const struct wsh_coll_request request = {WSH_COLL_SCAN, team->n_pes, scan.len, dest, src, scan.len};

    return wsh_scan_by[wsh_coll_choose(team, &request)](team, dest, src, &scan);
}
