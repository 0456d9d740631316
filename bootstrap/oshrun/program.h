/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how to find the program that oshrun is to run. */
#ifndef WSH_OSHRUN_PROGRAM_H
#define WSH_OSHRUN_PROGRAM_H

/*
 * Finds `name` as the shell does: with a slash as it stands, else along PATH. 0 and *path malloc'd; else
 * OSHRUN_NOT_FOUND or OSHRUN_CANNOT_RUN after one line.
 */
int wsh_program_find(const char *name, char **path);

/* The same without a line: whether a program of that name is on PATH. */
int wsh_program_is_there(const char *name);

#endif
