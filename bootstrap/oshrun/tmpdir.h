/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the private folder that the files of a job are kept in: the PMIx server's, an emulated device's. */
#ifndef WSH_OSHRUN_TMPDIR_H
#define WSH_OSHRUN_TMPDIR_H

/*
 * Chooses a name below $TMPDIR or /tmp that nobody else has; *path is malloc'd. The guardian learns the name before
 * the folder exists, so that a kill at no moment leaves one. 0, or -errno after one line.
 */
int wsh_tmpdir_name(char **path);

/* Makes that folder, mode 0700; if it cannot, frees *path and sets it to NULL. 0, or -errno after one line. */
int wsh_tmpdir_make(char **path);

/* Removes the folder with all it holds; follows no link and reports nothing. NULL is allowed. */
void wsh_tmpdir_remove(const char *path);

#endif
