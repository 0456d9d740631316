/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the environment that a PE gets. */
#ifndef WSH_OSHRUN_ENVIRON_H
#define WSH_OSHRUN_ENVIRON_H

/* A malloc'd, NULL-terminated copy of oshrun's own environment; NULL when memory is short. */
char **wsh_environ_copy(void);
void wsh_environ_free(char **env);

/* Sets NAME=value in *env. 0 or -ENOMEM. */
int wsh_environ_set(char ***env, const char *name, const char *value);
int wsh_environ_set_int(char ***env, const char *name, long value);

/* In oshrun's own environment: the PEs' libraries leave their signals alone, whatever loads libfabric there. */
void wsh_environ_keep_signals(void);

/*
 * Carries out -x: `exports` is a NULL-terminated list of "VAR=value" (set in oshrun's own environment, which the PEs
 * inherit) and "VAR" (must be there; one line if not). 0 or OSHRUN_USAGE.
 */
int wsh_environ_export(char **exports);

#endif
