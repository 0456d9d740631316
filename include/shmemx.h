/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions beyond the specification, all named shmemx_; section 5 asks for this header even where
 * it adds none.
 */
#ifndef WSH_SHMEMX_H
#define WSH_SHMEMX_H

#include <shmem.h>

#endif
