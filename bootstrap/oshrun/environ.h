/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a PE, also that of an emulated EFA device (--emulate-efa). */
#ifndef WSH_OSHRUN_ENVIRON_H
#define WSH_OSHRUN_ENVIRON_H

#include <limits.h>
#include <stdbool.h>

/* A malloc'd, NULL-terminated copy of oshrun's own environment; NULL when memory is short. */
char **wsh_environ_copy(void);
void wsh_environ_free(char **env);

/* Sets NAME=value in *env. 0 or -ENOMEM. */
int wsh_environ_set(char ***env, const char *name, const char *value);
int wsh_environ_set_int(char ***env, const char *name, long value);

/* In oshrun's own environment: the PEs' libraries leave their signals alone, whatever loads libfabric there. */
void wsh_environ_keep_signals(void);

/*
 * Applies -x: `exports` is a NULL-terminated list of "VAR=value" (set in oshrun's own environment, which the PEs
 * inherit) and "VAR" (must be there; one line if not). 0 or OSHRUN_USAGE.
 */
int wsh_environ_export(char **exports);

/*
 * Makes the file through which the PEs tell each other their addresses (bootstrap/blob/blob_file.h), for this user
 * alone in oshrun's private folder: a look-up through libpmix is a message to oshrun, of which there would be as many
 * as the square of the PEs. *path is malloc'd; NULL where a file may not be so long: then by libpmix. 0 or a negative
 * errno after one line.
 */
int wsh_blob_file_make(const char *tmpdir, int n_pes, char **path);

/* The folder of this oshrun; true: it is one in which it was built, and its libraries are in .libs below. */
bool wsh_oshrun_place(char folder[PATH_MAX]);

#define WSH_EMULATE_DEFAULT "p5"
#define WSH_EMULATE_PROFILES "p4d, p5, p5en, p6 or minimal"

/* The emulated EFA device that the PEs of a job share; all NULL = none. */
struct wsh_emulate {
    const char *profile;
    char *library; /* preloaded under libfabric's efa provider */
    char *folder;  /* mode 0700, inside the job's temporary folder: what the device's processes share */
};

bool wsh_emulate_knows(const char *profile);

/* Finds the library and makes the folder below `tmpdir`. 0, or OSHRUN_FAILED after one line. */
int wsh_emulate_open(struct wsh_emulate *emulate, const char *profile, const char *tmpdir);
void wsh_emulate_close(struct wsh_emulate *emulate);

/*
 * Sets in *env what leads a PE to the device; transports and provider only where the user chose none. With
 * `within_hosts`, the PEs of one emulated host keep their shared memory. 0 or -ENOMEM.
 */
int wsh_emulate_environ(const struct wsh_emulate *emulate, bool within_hosts, char ***env);

#endif
