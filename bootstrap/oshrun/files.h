/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun's limit of open files, which the output and the connection of each PE count against. */
#ifndef WSH_OSHRUN_FILES_H
#define WSH_OSHRUN_FILES_H

#include <sys/resource.h>

/* Raises the soft limit as far as may be; *before is what PEs get. */
void wsh_files_raise(struct rlimit *before);

/* With everything open but what the PEs need: is there room for that? 0 or -EMFILE after one line. */
int wsh_files_check(int n_pes);

/* The line where descriptors have run out all the same. */
void wsh_files_say_none(int n_pes);

#endif
