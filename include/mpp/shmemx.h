/* SPDX-License-Identifier: BSD-3-Clause */
/* The deprecated place of shmemx.h (Annex: header directory mpp). */
#ifndef WSH_MPP_SHMEMX_H
#define WSH_MPP_SHMEMX_H

#include <shmemx.h>

#endif
