/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes, awaits and reads the LL lines of an epoch. */
#include "runtime/coll/memory/ll.h"

#include "runtime/coll/memory/flags.h"

static size_t kind_offset(const struct wsh_coll *coll, enum wsh_ll_kind kind)
{
    return (kind == WSH_LL_OWN ? coll->area.own : coll->area.result) + (coll->ll & 1) * WSH_LL_LEN;
}

static size_t round_offset(const struct wsh_coll *coll, int round)
{
    return coll->area.rounds + ((coll->ll & 1) * (size_t)coll->area.n_rounds + (size_t)round) * WSH_ROUND_LEN;
}

struct wsh_ll wsh_ll_begin(struct wsh_team *team, const char *routine)
{
    team->coll->ll++;
    return (struct wsh_ll){team, routine, team->coll->slots};
}

void wsh_ll_end(const struct wsh_ll *ll)
{
    wsh_coll_all_entered(ll->team->coll, ll->before);
}

void wsh_ll_write(const struct wsh_ll *ll, enum wsh_ll_kind kind, const void *data, size_t len)
{
    struct wsh_coll *coll = ll->team->coll;
    struct wsh_ll_line *line = (struct wsh_ll_line *)(coll->base + kind_offset(coll, kind));

    wsh_ll_copy(line->data, data, len);
    /* Release: the data before the flag. Partner: the acquire in flags.c. */
    __atomic_store_n(&line->flag, coll->ll, __ATOMIC_RELEASE);
}

/*
 * Each member begins with its successor: a line serves its readers one after the other, but all lines serve at the same
 * time.
 */
static int member_first(const struct wsh_coll *coll, int n)
{
    return n > 1 ? coll->my_local : 0;
}

int wsh_ll_await(const struct wsh_ll *ll, enum wsh_ll_kind kind, const int *members, int n)
{
    const struct wsh_coll *coll = ll->team->coll;
    struct wsh_flags flags = {.team = ll->team,
                              .members = members,
                              .n = n,
                              .next = member_first(coll, n),
                              .off = kind_offset(coll, kind),
                              .mapped = true,
                              .want = coll->ll};

    return wsh_flags_await(&flags, ll->routine);
}

size_t wsh_ll_offset(const struct wsh_ll *ll, enum wsh_ll_kind kind)
{
    return kind_offset(ll->team->coll, kind) + offsetof(struct wsh_ll_line, data);
}

const void *wsh_ll_data(const struct wsh_ll *ll, enum wsh_ll_kind kind, int member)
{
    return ll->team->coll->peer[member] + wsh_ll_offset(ll, kind);
}

static size_t line_offset(const struct wsh_coll *coll, int i)
{
    return coll->area.lines + ((coll->ll & 1) * (size_t)coll->area.n_lines + (size_t)i) * WSH_SYNC_AREA_LINE;
}

size_t wsh_ll_exchange_line(const struct wsh_ll *ll, int i)
{
    return line_offset(ll->team->coll, i) + sizeof(uint64_t);
}

void wsh_ll_exchange_show(const struct wsh_ll *ll, int i)
{
    struct wsh_coll *coll = ll->team->coll;

    /* Release: the data before the flag. Partner: the acquire in flags.c. */
    __atomic_store_n((uint64_t *)(coll->base + line_offset(coll, i)), coll->ll, __ATOMIC_RELEASE);
}

int wsh_ll_exchange_await(const struct wsh_ll *ll, int i, const int *members, int n)
{
    const struct wsh_coll *coll = ll->team->coll;
    struct wsh_flags flags = {.team = ll->team,
                              .members = members,
                              .n = n,
                              .next = member_first(coll, n),
                              .off = line_offset(coll, i),
                              .mapped = true,
                              .want = coll->ll};

    return wsh_flags_await(&flags, ll->routine);
}

int wsh_ll_send(const struct wsh_ll *ll, int round, const void *data, size_t len, int member)
{
    struct wsh_coll *coll = ll->team->coll;
    size_t at = round_offset(coll, round);
    const struct wsh_signal signal = wsh_coll_word(coll, at, coll->ll);

    return wsh_put_signal(&coll->ctx, ((struct wsh_ll_line *)(coll->base + at))->data, data, len, &signal,
                          member);
}

int wsh_ll_take(const struct wsh_ll *ll, int round, int member, const void **data)
{
    const struct wsh_coll *coll = ll->team->coll;
    size_t at = round_offset(coll, round);

    *data = ((const struct wsh_ll_line *)(coll->base + at))->data;
    return wsh_flag_await(ll->team, member, at, coll->ll, ll->routine);
}

int wsh_ll_sync(struct wsh_team *team, const char *routine)
{
    struct wsh_ll ll = wsh_ll_begin(team, routine);

    wsh_ll_write(&ll, WSH_LL_OWN, "", 0);
    return wsh_ll_await(&ll, WSH_LL_OWN, team->coll->local, team->coll->n_local);
}
