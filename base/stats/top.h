/* SPDX-License-Identifier: BSD-3-Clause */
/* The screen of --top: a line for each PE of this host, and one that says for whom they wait. */
#ifndef WSH_BASE_STATS_TOP_H
#define WSH_BASE_STATS_TOP_H

#include "base/stats/page.h"
#include "base/stats/text.h"

/* What was shown last, for rates; zeros at first. */
struct wsh_top_row {
    struct wsh_stats_page page;
    bool here; /* the page is filled */
    double operations_a_second, bytes_a_second;
};

/* The page as it is now. */
void wsh_top_update(struct wsh_top_row *row, const struct wsh_stats_page *page);

/* The PE that the others of rows[n] have waited for longest, with how long, in seconds, of all together; -1: nobody. */
int wsh_top_late(const struct wsh_top_row *rows, int n, double *seconds);

/* A table: `now` of CLOCK_MONOTONIC in ns; at most `most` lines, of at most `width` columns. */
void wsh_top_table(struct wsh_text *text, const struct wsh_top_row *rows, int n, uint64_t now, int most,
                   int width);

/* One line for all, for where there is no terminal. */
void wsh_top_line(struct wsh_text *text, const struct wsh_top_row *rows, int n, uint64_t now);

/* The clock of pages. */
uint64_t wsh_stats_now(void);

/* Bytes or a number in at most six characters: "1.2 G". */
const char *wsh_stats_short(double value, char text[16]);

#endif
