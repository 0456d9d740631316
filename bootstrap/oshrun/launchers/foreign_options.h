/* SPDX-License-Identifier: BSD-3-Clause */
/* What is written in place of an option of oshrun: words of other launchers. */
#ifndef WSH_OSHRUN_FOREIGN_OPTIONS_H
#define WSH_OSHRUN_FOREIGN_OPTIONS_H

#include <stdbool.h>

/* What to do instead of an option of mpirun, srun or mpiexec that oshrun lacks; NULL if it is none. */
const char *wsh_foreign_option(const char *word);

/* mpirun's `:` between two programs, which an option follows; a lone ':' may be an argument. */
bool wsh_second_program(char *const *word);

#endif
