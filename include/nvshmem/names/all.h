/* SPDX-License-Identifier: BSD-3-Clause */
/* All names: NVSHMEM's headers differ in which of them they hold, ours do not. */
#ifndef WSH_NV_ALL_H
#define WSH_NV_ALL_H

#ifdef __cplusplus
extern "C++" { /* programs in C++ may include us inside extern "C" */
#endif

#include "shell.h"

#include "setup.h"
#include "state.h"
#include "team.h"
#include "rma.h"
#include "amo.h"
#include "wait.h"
#include "coll.h"
#include "maxloc.h"

#include "../host/nvshmemx_init.h"

#ifdef __cplusplus
}
#endif

#endif
