/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program that has more rights than who started it (set-user-ID, …) takes from its environment. */
#ifndef WSH_BASE_ENV_SECURE_H
#define WSH_BASE_ENV_SECURE_H

#include <stdbool.h>

/* The kernel says so of this process: set-user-ID, set-group-ID, or capabilities of the file. */
bool wsh_env_is_secure(void);

/*
 * There: the value of a variable counts only where `internal`, as oshrun's numbers are. NULL where it does not count,
 * is unset or empty.
 */
const char *wsh_env_secure_value(const char *name, bool internal);

/* There: takes out of the environment what libraries would follow that are loaded later. Before any of them is. */
void wsh_env_secure_clean(void);

/* A variable that did not count for that reason, or NULL. */
const char *wsh_env_secure_ignored(void);

#endif
