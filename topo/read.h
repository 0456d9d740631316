/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a topology with hwloc in this process. For topo's own files, and for fuzzing. */
#ifndef WSH_TOPO_READ_H
#define WSH_TOPO_READ_H

#include "topo/topo.h"

/* As wsh_topo_load; but a file that hwloc does not read is -EINVAL without a line, or the end of the process. */
int wsh_topo_read(struct wsh_topo *topo, const char *xml);

#endif
