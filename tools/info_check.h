/* SPDX-License-Identifier: BSD-3-Clause */
/* What warpshmem-info --check prints. */
#ifndef WSH_INFO_CHECK_H
#define WSH_INFO_CHECK_H

#include <stdbool.h>

/* A line for each thing that a job needs here; or key:value lines. Nonzero if one of them is missing. */
int wsh_info_checks(bool parsable);

#endif
