/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc, loaded when a topology is first read. */
#ifndef WSH_TOPO_HWLOC_LIBRARY_H
#define WSH_TOPO_HWLOC_LIBRARY_H

#include <hwloc.h>

/* Those of its routines that topo calls. Functions that are inline in <hwloc.h> would need the library to be linked. */
#define WSH_HWLOC_ROUTINES(X)       \
    X(get_api_version)              \
    X(bitmap_alloc)                 \
    X(bitmap_free)                  \
    X(bitmap_isincluded)            \
    X(bitmap_isset)                 \
    X(bitmap_iszero)                \
    X(get_cpubind)                  \
    X(get_nbobjs_by_depth)          \
    X(get_obj_by_depth)             \
    X(get_type_depth)               \
    X(topology_destroy)             \
    X(topology_init)                \
    X(topology_load)                \
    X(topology_set_components)      \
    X(topology_set_io_types_filter) \
    X(topology_set_xml)

struct wsh_hwloc {
#define WSH_HWLOC_FIELD(name) __typeof__(hwloc_##name) *name;
    WSH_HWLOC_ROUTINES(WSH_HWLOC_FIELD)
#undef WSH_HWLOC_FIELD
};

/* Filled by wsh_hwloc_open. */
extern struct wsh_hwloc wsh_hwloc;

/* NULL, or why there is no hwloc, with the cure. */
const char *wsh_hwloc_open(void);

#endif
