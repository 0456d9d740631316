/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads blobs with a part for each endpoint set of a PE. */
#include "transports/efa/set/parts.h"

#include "base/log.h"

#include <string.h>

const void *wsh_efa_parts_get(const void *blob, unsigned i, size_t *len)
{
    struct wsh_efa_parts parts;
    const char *at = (const char *)blob + sizeof parts;

    memcpy(&parts, blob, sizeof parts);
    for (unsigned before = 0; before < i; before++)
        at += parts.len[before];
    *len = parts.len[i];
    return at;
}

uint32_t wsh_efa_parts_check(int pe, const void *blob, size_t len)
{
    struct wsh_efa_parts parts = {0};
    size_t sum = sizeof parts;

    memcpy(&parts, blob, len < sizeof parts ? len : sizeof parts);
    for (uint32_t i = 0; i < parts.n && i < WSH_EFA_SETS_MAX; i++)
        sum += parts.len[i];
    if (parts.n && parts.n <= WSH_EFA_SETS_MAX && sum == len)
        return parts.n;
    wsh_error("PE %d describes its endpoints in another form (%zu bytes); run the same library on every PE",
              pe, len);
    return 0;
}
