/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_NA_WAIT_NVSHMEMI_WAIT_UNTIL_APIS_CUH
#define WSH_NV_NA_WAIT_NVSHMEMI_WAIT_UNTIL_APIS_CUH

#include "../../../names/all.h"

#endif
