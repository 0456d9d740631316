/* SPDX-License-Identifier: BSD-3-Clause */
/* LL lines: small data beside its flag, written once by its owner, read by all members that share memory. */
#ifndef WSH_COLL_LL_H
#define WSH_COLL_LL_H

#include "base/atomic.h"
#include "runtime/coll/choose/state.h"

#include <string.h>

/* An epoch of LL lines: all members begin it together. */
struct wsh_ll {
    struct wsh_team *team;
    const char *routine;
    uint64_t before; /* slots used before it */
};

struct wsh_ll wsh_ll_begin(struct wsh_team *team, const char *routine);
/* All members have entered the call. */
void wsh_ll_end(const struct wsh_ll *ll);

/* All members of my host have entered: an epoch without data. Not for members that share no memory. */
int wsh_ll_sync(struct wsh_team *team, const char *routine);

enum wsh_ll_kind { WSH_LL_OWN, WSH_LL_RESULT };

void wsh_ll_write(const struct wsh_ll *ll, enum wsh_ll_kind kind, const void *data, size_t len);
/*
 * Waits for the LL lines of these members: all of my domain, or one. Where their data is in each member's sync area.
 * wsh_ll_data: at this member.
 */
int wsh_ll_await(const struct wsh_ll *ll, enum wsh_ll_kind kind, const int *members, int n);
size_t wsh_ll_offset(const struct wsh_ll *ll, enum wsh_ll_kind kind);
const void *wsh_ll_data(const struct wsh_ll *ll, enum wsh_ll_kind kind, int member);

/* Most often a piece of data is one word: no call then. */
static inline void wsh_ll_copy(void *dest, const void *src, size_t len)
{
    if (wsh_likely(len == sizeof(uint64_t)))
        memcpy(dest, src, sizeof(uint64_t));
    else
        memcpy(dest, src, len);
}

/*
 * Lines of an exchange, each with a flag: line i of mine is filled, then shown; that of these members is awaited, then
 * read, at the same place of their sync areas. WSH_LINE_DATA bytes.
 */
size_t wsh_ll_exchange_line(const struct wsh_ll *ll, int i); /* its data, in each member's sync area */
void wsh_ll_exchange_show(const struct wsh_ll *ll, int i);
int wsh_ll_exchange_await(const struct wsh_ll *ll, int i, const int *members, int n);

/* A round with another leader: my data to its LL line of that round; its data in mine. */
int wsh_ll_send(const struct wsh_ll *ll, int round, const void *data, size_t len, int member);
int wsh_ll_take(const struct wsh_ll *ll, int round, int member, const void **data);

#endif
