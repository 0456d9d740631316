/* SPDX-License-Identifier: BSD-3-Clause */
/* The deprecated place of shmem.h (Annex: header directory mpp). */
#ifndef WSH_MPP_SHMEM_H
#define WSH_MPP_SHMEM_H

#include <shmem.h>

#endif
