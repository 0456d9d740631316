/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that are meant as settings and are none. */
#ifndef WSH_BASE_MISSPELT_H
#define WSH_BASE_MISSPELT_H

#include <stddef.h>

/*
 * A variable of the environment that begins as settings do and is none: `*at`, 0 at first, moves behind it. NULL: no
 * more. *length is that of its name, *meant the setting that is nearly called so, or NULL. Of NVSHMEM's names only
 * those are found that are nearly one which is known here.
 */
const char *wsh_env_misspelt(size_t *at, int *length, const char **meant);

#endif
