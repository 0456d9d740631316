/* SPDX-License-Identifier: BSD-3-Clause */
/* What srun, prterun, mpirun and ssh write when a job cannot be started, in one line of ours with the cure. */
#ifndef WSH_OSHRUN_EXPLAIN_H
#define WSH_OSHRUN_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

struct wsh_explained {
    char line[512]; /* without `oshrun: ` */
    int status;     /* oshrun's exit status for it, where the launcher has failed; 0 = that of the launcher */
    bool sure;      /* false: text that follows may say more */
};

/* Whether `line` may begin such a message, so that what follows is worth waiting for. */
bool wsh_explain_begins(const char *line);

/* Whether `text`, whole lines that `launcher` has written, names a cause that is known; *explained is then that. */
bool wsh_explain(const char *launcher, const char *text, struct wsh_explained *explained);

#endif
