/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of warpshmem-info for scripts: kind:value:value, or JSON. */
#ifndef WSH_INFO_ROW_H
#define WSH_INFO_ROW_H

#include <stddef.h>
#include <stdio.h>

/*
 * Prints a row of `n` values. JSON has an array of objects for each kind, whose rows follow each other; names[i] is
 * that of a member, with # before it if it is a number (- is null), with [ if it is a list of words between commas.
 */
void wsh_info_row(FILE *out, const char *kind, size_t n, const char *const names[],
                  const char *const values[]);

/* Rows are JSON from now on: one object, which the last call ends. */
void wsh_info_json_begin(FILE *out);
void wsh_info_json_end(FILE *out);

#endif
