/* SPDX-License-Identifier: BSD-3-Clause */
/* The pages of statistics of the PEs: --top shows them, and files of metrics go with PEs that have died. */
#ifndef WSH_OSHRUN_TOP_H
#define WSH_OSHRUN_TOP_H

#include "bootstrap/oshrun/args.h"
#include "base/stats/top.h"

struct wsh_top {
    int fd; /* of the pages, or -1: nobody needs them */
    int n_pes;
    const char *pages;
    struct wsh_top_row *rows; /* [n_pes] */
    bool shows, terminal;
    double next;       /* when it is shown again */
    int lines, height; /* of the screen's part that is kept for it, and of the screen; 0: not yet */
};

/* Only with --top or SHMEM_METRICS_FILE. 0, or -errno after one line. */
int wsh_top_open(struct wsh_top *top, const struct wsh_args *args);
void wsh_top_close(struct wsh_top *top);

/* The descriptor, for the PEs. 0 or -ENOMEM. */
int wsh_top_environ(const struct wsh_top *top, char ***env);

/* Seconds until wsh_top_work has something to do; negative = nothing. */
double wsh_top_wait(const struct wsh_top *top);
void wsh_top_work(struct wsh_top *top);

/* All PEs have ended: the last state, and the end of files that they have left. */
void wsh_top_finish(struct wsh_top *top);

#endif
