/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the private folder that the PMIx server keeps its files in. */
#ifndef WSH_OSHRUN_TMPDIR_H
#define WSH_OSHRUN_TMPDIR_H

/* Makes a folder of mode 0700 below $TMPDIR or /tmp; *path is malloc'd. 0, or -errno after one line. */
int wsh_tmpdir_make(char **path);

/* Removes the folder with all it holds; follows no link and reports nothing. NULL is allowed. */
void wsh_tmpdir_remove(const char *path);

#endif
