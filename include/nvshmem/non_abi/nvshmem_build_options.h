/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path; NVSHMEM's has the options of its build, of which none is set here. */
#ifndef WSH_NV_BUILD_OPTIONS_H
#define WSH_NV_BUILD_OPTIONS_H

#include "nvshmem_version.h"

#endif
