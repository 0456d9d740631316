/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of an array that each member works on, and access to the same part at the others. */
#ifndef WSH_COLL_SLICES_H
#define WSH_COLL_SLICES_H

#include "runtime/coll/choose/state.h"

#define WSH_SLICE_BLOCK ((size_t)32 << 10) /* bytes worked on at a time: they stay in the cache */

/* Bytes [*begin, *end) of `len` are slice k of n: of whole cache lines, so that no two members write to one. */
void wsh_slice(int n, int k, size_t len, size_t *begin, size_t *end);

/* Where `sym` is at a member: mapped, or fetched to `scratch`: there after wsh_op_wait(done). */
int wsh_slice_fetch(struct wsh_team *team, int member, const void *sym, size_t len, void *scratch,
                    const void **data, struct wsh_done *done);

/* The reverse; `data` may be reused after a quiet of the collectives' context, and is there then. */
int wsh_slice_write(struct wsh_team *team, int member, void *sym, const void *data, size_t len);

/* Members whose blocks of `len` bytes are fetched at the same time: as many as fit WSH_SLICE_BLOCK. */
static inline int wsh_slice_batch(size_t len)
{
    return (int)(WSH_SLICE_BLOCK / (len ? len : 1));
}

#endif
