/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes slices: in place where memory is mapped, else by gets and puts. */
#include "runtime/coll/algorithms/slices.h"

#include "runtime/op/rma.h"

#include <string.h>

void wsh_slice(int n, int k, size_t len, size_t *begin, size_t *end)
{
    size_t lines = (len + WSH_SYNC_AREA_LINE - 1) / WSH_SYNC_AREA_LINE;
    size_t share = (lines + (size_t)n - 1) / (size_t)n * WSH_SYNC_AREA_LINE;

    *begin = share * (size_t)k < len ? share * (size_t)k : len;
    *end = share < len - *begin ? *begin + share : len;
}

int wsh_slice_fetch(struct wsh_team *team, int member, const void *sym, size_t len, void *scratch,
                    const void **data, struct wsh_done *done)
{
    *data = wsh_coll_map(team, sym, len, member);
    if (*data)
        return 0;
    *data = scratch;
    return wsh_get_counted(&team->coll->ctx, scratch, sym, len, member, done);
}

int wsh_slice_write(struct wsh_team *team, int member, void *sym, const void *data, size_t len)
{
    void *map = wsh_coll_map(team, sym, len, member);

    if (!map)
        return wsh_put_nbi(&team->coll->ctx, sym, data, len, member);
    if (map != data)
        memcpy(map, data, len);
    return 0;
}
