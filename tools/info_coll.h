/* SPDX-License-Identifier: BSD-3-Clause */
/* What warpshmem-info --collectives prints. */
#ifndef WSH_INFO_COLL_H
#define WSH_INFO_COLL_H

#include <stdbool.h>

/* The rows of both tables, host and device, and what their words mean; or key:value lines. */
void wsh_info_collectives(bool parsable);

#endif
