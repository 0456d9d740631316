/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines the numbers of all members to one result: small ones by LL lines and leaders. */
#include "runtime/coll/coll.h"

#include "runtime/coll/memory/ll.h"
#include "runtime/coll/choose/dispatch.h"
#include "runtime/coll/algorithms/reduce_slices.h"

#include <string.h>

#define ROUTINE WSH_REDUCE_ROUTINE

#define FOLD_LEN 1024 /* bytes of numbers that are gathered before they are combined */

/* Combines the upper half with the lower one until one is left: a few long loops for the numbers of all members. */
static void numbers_fold(const struct wsh_numbers *numbers, char *all, int n, void *result)
{
    for (; n > 1; n -= n / 2) {
        char *upper = all + (size_t)(n - n / 2) * numbers->len;

        numbers->arith->combine(n == 2 ? result : all, all, upper, (size_t)(n / 2) * numbers->n);
    }
}

/* Numbers of one word, most often; the compiler checks lengths of what it knows to be an array by calls. */
static inline void numbers_gather(const struct wsh_ll *ll, const int *members, int n, size_t len,
                                  uint64_t *all)
{
    char *const *peer = ll->team->coll->peer;
    size_t at = wsh_ll_offset(ll, WSH_LL_OWN);

    if (wsh_likely(len == sizeof *all))
        for (int i = 0; i < n; i++)
            all[i] = *(const uint64_t *)(peer[members[i]] + at);
    else
        for (int i = 0; i < n; i++)
            memcpy((char *)all + (size_t)i * len, peer[members[i]] + at, len);
}

static void ll_fold(const struct wsh_ll *ll, const struct wsh_numbers *numbers, const int *members, int n,
                    void *result)
{
    _Alignas(WSH_SYNC_AREA_LINE) uint64_t all[FOLD_LEN / sizeof(uint64_t)];

    numbers_gather(ll, members, n, numbers->len, all);
    numbers_fold(numbers, (char *)all, n, result);
}

/* The LL lines of these members, each in its turn, so that every member computes the same result. */
static WSH_NO_ARRAYS int ll_combine(const struct wsh_ll *ll, const struct wsh_numbers *numbers,
                                    const int *members, int n, void *result)
{
    const void *data;
    int rc = wsh_ll_await(ll, WSH_LL_OWN, members, n);

    if (rc)
        return rc;
    if (n > 4 && (size_t)n * numbers->len <= FOLD_LEN) {
        ll_fold(ll, numbers, members, n, result);
        return 0;
    }
    data = wsh_ll_data(ll, WSH_LL_OWN, members[0]);
    if (n == 1)
        memcpy(result, data, numbers->len);
    for (int i = 1; i < n; i++, data = result)
        numbers->arith->combine(result, data, wsh_ll_data(ll, WSH_LL_OWN, members[i]), numbers->n);
    return 0;
}

/* Both combine the same pair, with that of the lower number on the left. */
static int leaders_exchange(const struct wsh_ll *ll, const struct wsh_numbers *numbers, int round, int other,
                            void *result)
{
    const struct wsh_coll *coll = ll->team->coll;
    const void *theirs;
    int rc = wsh_ll_send(ll, round, result, numbers->len, coll->leader[other]);

    if (!rc)
        rc = wsh_ll_take(ll, round, coll->leader[other], &theirs);
    if (rc)
        return rc;
    if (other < coll->my_domain)
        numbers->arith->combine(result, theirs, result, numbers->n);
    else
        numbers->arith->combine(result, result, theirs, numbers->n);
    return 0;
}

/* A leader beyond the power of two gives its numbers to one below it, and gets the result: the last two rounds. */
static int extra_leader_send(const struct wsh_ll *ll, const struct wsh_numbers *numbers, int leader,
                             void *result)
{
    int last = ll->team->coll->area.n_rounds - 1, rc;
    const void *data;

    rc = wsh_ll_send(ll, last - 1, result, numbers->len, leader);
    if (!rc)
        rc = wsh_ll_take(ll, last, leader, &data);
    if (!rc)
        memcpy(result, data, numbers->len);
    return rc;
}

/* Recursive doubling among the leaders. */
static int leaders_combine(const struct wsh_ll *ll, const struct wsh_numbers *numbers, void *result)
{
    const struct wsh_coll *coll = ll->team->coll;
    int power = 1 << wsh_sync_area_rounds(coll->n_domains), me = coll->my_domain,
        last = coll->area.n_rounds - 1;
    int extra, round = 0, rc = 0;
    const void *data;

    power = power > coll->n_domains ? power / 2 : power;
    extra = coll->n_domains - power;
    if (me >= power)
        return extra_leader_send(ll, numbers, coll->leader[me - power], result);
    if (me < extra) {
        rc = wsh_ll_take(ll, last - 1, coll->leader[me + power], &data);
        if (!rc)
            numbers->arith->combine(result, result, data, numbers->n);
    }
    for (int bit = 1; bit < power && !rc; bit <<= 1)
        rc = leaders_exchange(ll, numbers, round++, me ^ bit, result);
    if (!rc && me < extra)
        rc = wsh_ll_send(ll, last, result, numbers->len, coll->leader[me + power]);
    return rc;
}

static int small_by_leaders(const struct wsh_ll *ll, const struct wsh_numbers *numbers, void *result)
{
    const struct wsh_coll *coll = ll->team->coll;
    int rc;

    if (coll->my_local) {
        rc = wsh_ll_await(ll, WSH_LL_RESULT, coll->local, 1);
        if (!rc)
            memcpy(result, wsh_ll_data(ll, WSH_LL_RESULT, coll->local[0]), numbers->len);
        return rc;
    }
    rc = ll_combine(ll, numbers, coll->local, coll->n_local, result);
    if (!rc)
        rc = leaders_combine(ll, numbers, result);
    if (!rc)
        wsh_ll_write(ll, WSH_LL_RESULT, result, numbers->len);
    return rc;
}

/* Where every member is a leader, no other member reads its LL lines. */
static int small_apart(const struct wsh_ll *ll, const struct wsh_numbers *numbers, void *dest,
                       const void *src)
{
    _Alignas(WSH_SYNC_AREA_LINE) char result[WSH_ROUND_DATA];
    int rc;

    memcpy(result, src, numbers->len);
    rc = leaders_combine(ll, numbers, result);
    memcpy(dest, result, numbers->len);
    wsh_ll_end(ll);
    return rc;
}

static int small_on_hosts(const struct wsh_ll *ll, const struct wsh_numbers *numbers, void *dest)
{
    _Alignas(WSH_SYNC_AREA_LINE) char result[WSH_LL_DATA];
    int rc = small_by_leaders(ll, numbers, result);

    memcpy(dest, result, numbers->len);
    return rc;
}

/* src, which may be dest, is not read again once it is in the LL line. */
WSH_NO_ARRAYS int wsh_reduce_small(struct wsh_team *team, void *dest, const void *src, size_t nelems,
                                   const struct wsh_arith *arith, const char *routine)
{
    const struct wsh_numbers numbers = {arith, nelems, nelems * arith->width};
    struct wsh_ll ll = wsh_ll_begin(team, routine);
    int rc;

    if (team->coll->layout == WSH_LAYOUT_APART)
        return small_apart(&ll, &numbers, dest, src);

    wsh_ll_write(&ll, WSH_LL_OWN, src, numbers.len);
    rc = team->coll->n_domains == 1 ? ll_combine(&ll, &numbers, team->coll->all, team->n_pes, dest)
                                    : small_on_hosts(&ll, &numbers, dest);
    wsh_ll_end(&ll);
    return rc;
}

/* As many small reductions as it takes; most often one. */
static WSH_NO_ARRAYS int reduce_by_pieces(struct wsh_team *team, char *dest, const char *src,
                                          const struct wsh_numbers *numbers)
{
    size_t room = team->coll->layout == WSH_LAYOUT_APART ? WSH_ROUND_DATA : WSH_LL_DATA;
    size_t piece;
    int rc = 0;

    if (numbers->len <= room)
        return wsh_reduce_small(team, dest, src, numbers->n, numbers->arith, ROUTINE);
    piece = room / numbers->arith->width * numbers->arith->width;
    for (size_t at = 0; at < numbers->len && !rc; at += piece) {
        size_t len = numbers->len - at < piece ? numbers->len - at : piece;

        rc =
            wsh_reduce_small(team, dest + at, src + at, len / numbers->arith->width, numbers->arith, ROUTINE);
    }
    return rc;
}

/* By LL lines on one host; over a network by the leaders' LL lines of each round. */
wsh_reduce_fn *const wsh_reduce_by[WSH_ALGOS] = {
    [WSH_ALGO_LL] = reduce_by_pieces,    [WSH_ALGO_LEADERS] = reduce_by_pieces,
    [WSH_ALGO_PUSH] = wsh_reduce_pair,   [WSH_ALGO_SLICES] = wsh_reduce_slices,
    [WSH_ALGO_RAILS] = wsh_reduce_rails, [WSH_ALGO_WHOLE] = wsh_reduce_whole,
};

WSH_NO_ARRAYS int wsh_reduce(struct wsh_team *team, void *dest, const void *src, size_t nelems,
                             const struct wsh_arith *arith)
{
    const struct wsh_numbers numbers = {arith, nelems, nelems * arith->width};
    const struct wsh_coll_request request = {WSH_COLL_REDUCE, team->n_pes, numbers.len, dest, src,
                                             numbers.len};

    if (team->n_pes == 1)
        return wsh_coll_copy_own(team, dest, src, numbers.len);
    return wsh_reduce_by[wsh_coll_choose(team, &request)](team, dest, src, &numbers);
}
