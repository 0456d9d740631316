/* SPDX-License-Identifier: BSD-3-Clause */
/* What is written in place of an option of oshrun: words of other launchers, and misspelt ones. */
#ifndef WSH_OSHRUN_SLIPS_H
#define WSH_OSHRUN_SLIPS_H

#include <stddef.h>

/* What to do instead of an option of mpirun, srun or mpiexec that oshrun lacks; NULL if it is none. */
const char *wsh_slip_foreign(const char *word);

/* Single letters that differ: to be inserted, left out or exchanged. `len` letters of `word` count. */
size_t wsh_slip_distance(const char *word, size_t len, const char *other);

#endif
