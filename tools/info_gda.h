/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels that post to NICs themselves take, for warpshmem-info --check. */
#ifndef WSH_INFO_GDA_H
#define WSH_INFO_GDA_H

#include "base/env/env.h"

/* Holds; does not, and what that means with its cure; does not, and jobs fail for it (SHMEM_GDA=on). */
enum wsh_info_gda_kind { WSH_INFO_GDA_OK, WSH_INFO_GDA_NOTE, WSH_INFO_GDA_FAIL };

/*
 * Calls print(arg, name, kind, text) for each thing that it takes, or once where this machine has no such NIC. Files
 * are read below `root`: "" but in tests, which open no NIC (`env` is NULL). Nonzero: one was a WSH_INFO_GDA_FAIL.
 */
int wsh_info_gda(const char *root, const struct wsh_env *env,
                 void (*print)(void *arg, const char *name, int kind, const char *text), void *arg);

#endif
