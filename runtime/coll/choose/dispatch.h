/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithms that each routine has, by enum wsh_algo: NULL where it lacks one. A routine calls what choice.c says;
 * test/unit/coll_choice refuses a row whose algorithm its routine lacks.
 */
#ifndef WSH_COLL_DISPATCH_H
#define WSH_COLL_DISPATCH_H

#include "runtime/coll/choose/choice.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/memory/copy.h"
#include "runtime/coll/algorithms/reduce_slices.h"
#include "runtime/coll/memory/share.h"

struct wsh_sync_call;
struct wsh_sync_group;
struct wsh_offsets;
struct wsh_scan_call;

typedef int wsh_sync_fn(struct wsh_sync_call *call, const struct wsh_sync_group *group);
typedef int wsh_share_fn(struct wsh_team *team, const struct wsh_share *share);
typedef int wsh_collect_fn(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                           size_t len);
typedef int wsh_alltoall_fn(struct wsh_team *team, void *dest, const void *src, size_t len);
typedef int wsh_alltoalls_fn(struct wsh_team *team, void *dest, const void *src,
                             const struct wsh_alltoalls *shape);
typedef int wsh_reduce_fn(struct wsh_team *team, char *dest, const char *src,
                          const struct wsh_numbers *numbers);
typedef int wsh_scan_fn(struct wsh_team *team, char *dest, const char *src, const struct wsh_scan_call *scan);
typedef int wsh_send_fn(struct wsh_coll *coll, void *dest, const void *src, size_t len,
                        const struct wsh_signal *signal, int member);

extern wsh_sync_fn *const wsh_sync_by[WSH_ALGOS];
extern wsh_share_fn *const wsh_share_by[WSH_ALGOS];
extern const int wsh_tree_base[WSH_ALGOS]; /* branches of a broadcast's tree */
extern wsh_collect_fn *const wsh_fcollect_by[WSH_ALGOS], *const wsh_collect_by[WSH_ALGOS];
extern wsh_alltoall_fn *const wsh_alltoall_by[WSH_ALGOS];
extern wsh_alltoalls_fn *const wsh_alltoalls_by[WSH_ALGOS];
extern wsh_reduce_fn *const wsh_reduce_by[WSH_ALGOS];
extern wsh_scan_fn *const wsh_scan_by[WSH_ALGOS];
extern wsh_send_fn *const wsh_send_by[WSH_ALGOS];
extern wsh_copy_fn *const wsh_copy_by[WSH_ALGOS];

#endif
