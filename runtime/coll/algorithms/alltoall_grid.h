/* SPDX-License-Identifier: BSD-3-Clause */
/* An alltoall over very many hosts, in two steps: along rows of members, then along columns. */
#ifndef WSH_COLL_ALLTOALL_GRID_H
#define WSH_COLL_ALLTOALL_GRID_H

#include "runtime/coll/choose/state.h"

/* wsh_choice_across is not 0; dest and src are host memory. 0, -ENOMEM (said), or as any collective. */
int wsh_alltoall_grid(struct wsh_team *team, void *dest, const void *src, size_t len);

#endif
