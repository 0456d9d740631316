/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes lines of pages. */
#include "base/stats/top.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t wsh_stats_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

const char *wsh_stats_short(double value, char text[16])
{
    static const char units[] = " kMGTPE";
    int unit = 0;

    while (value >= 999.5 && units[unit + 1]) {
        value /= 1000;
        unit++;
    }
    if (!unit)
        snprintf(text, 16, "%.0f", value);
    else
        snprintf(text, 16, "%.*f %c", value < 99.95, value, units[unit]);
    return text;
}

void wsh_top_update(struct wsh_top_row *row, const struct wsh_stats_page *page)
{
    double seconds = row->here && page->at > row->page.at ? (double)(page->at - row->page.at) * 1e-9 : 0;

    if (seconds) {
        row->operations_a_second = (double)(page->operations - row->page.operations) / seconds;
        row->bytes_a_second = (double)(page->bytes - row->page.bytes) / seconds;
    }
    row->page = *page;
    row->here = true;
}

int wsh_top_late(const struct wsh_top_row *rows, int n, double *seconds)
{
    int late = -1;

    *seconds = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;

        for (int j = 0; j < n && rows[i].here && rows[i].page.most_pe >= 0; j++)
            if (rows[j].here && rows[j].page.most_pe == rows[i].page.most_pe)
                sum += (double)rows[j].page.most_ns * 1e-9;
        if (sum > *seconds) {
            *seconds = sum;
            late = rows[i].page.most_pe;
        }
    }
    return late;
}

static void state_print(const struct wsh_stats_page *page, uint64_t now, char *text, size_t size)
{
    double since = page->wait_since && now > page->wait_since ? (double)(now - page->wait_since) * 1e-9 : 0;
    char whom[32] = "";

    if (!page->wait_since) {
        snprintf(text, size, "computes");
        return;
    }
    if (page->wait_pe >= 0)
        snprintf(whom, sizeof whom, " for PE %d", page->wait_pe);
    snprintf(text, size, "%s waits%s %.3f s", page->routine, whom, since);
}

/* At most `width` columns of it. */
static void line_add(struct wsh_text *text, const char *line, int width)
{
    wsh_text_add(text, "%.*s\n", width, line);
}

static void row_print(const struct wsh_top_row *row, uint64_t now, char *line, size_t size)
{
    const struct wsh_stats_page *page = &row->page;
    char operations[16], bytes[16], most[40] = "", state[128];

    if (page->most_pe >= 0)
        snprintf(most, sizeof most, "PE %d %.3f s", page->most_pe, (double)page->most_ns * 1e-9);
    state_print(page, now, state, sizeof state);
    snprintf(line, size, "%5d %8d %7s %7s %7llu %10.3f  %-20s %s", page->pe, page->pid,
             wsh_stats_short(row->operations_a_second, operations),
             wsh_stats_short(row->bytes_a_second, bytes), (unsigned long long)(page->retries + page->stalls),
             (double)page->wait_ns * 1e-9, most, state);
}

static void late_print(const struct wsh_top_row *rows, int n, char *line, size_t size)
{
    double seconds;
    int late = wsh_top_late(rows, n, &seconds);

    if (late < 0)
        snprintf(line, size, "nobody has been waited for");
    else
        snprintf(line, size, "most waited for: PE %d, %.3f s of all PEs here", late, seconds);
}

void wsh_top_table(struct wsh_text *text, const struct wsh_top_row *rows, int n, uint64_t now, int most,
                   int width)
{
    int shown = 0, here = 0;
    char line[512];

    late_print(rows, n, line, sizeof line);
    line_add(text, line, width);
    line_add(text, "   PE      pid   ops/s     B/s retries   waited s  most for             state", width);
    for (int i = 0; i < n; i++) {
        here += rows[i].here;
        if (!rows[i].here || shown >= most - 3)
            continue;
        row_print(&rows[i], now, line, sizeof line);
        line_add(text, line, width);
        shown++;
    }
    if (here > shown) {
        snprintf(line, sizeof line, "and %d PEs more", here - shown);
        line_add(text, line, width);
    }
}

void wsh_top_line(struct wsh_text *text, const struct wsh_top_row *rows, int n, uint64_t now)
{
    double operations = 0, bytes = 0, longest = 0;
    char line[256], state[160] = "", a[16], b[16];
    int waiting = 0, here = 0;

    for (int i = 0; i < n; i++) {
        const struct wsh_stats_page *page = &rows[i].page;
        double since =
            page->wait_since && now > page->wait_since ? (double)(now - page->wait_since) * 1e-9 : 0;

        here += rows[i].here;
        waiting += since > 0;
        operations += rows[i].operations_a_second;
        bytes += rows[i].bytes_a_second;
        if (since <= longest)
            continue;
        longest = since;
        snprintf(state, sizeof state, ", longest PE %d: ", page->pe);
        state_print(page, now, state + strlen(state), sizeof state - strlen(state));
    }
    late_print(rows, n, line, sizeof line);
    wsh_text_add(text, "%d PEs, %d wait%s; %s ops/s, %s B/s; %s\n", here, waiting, state,
                 wsh_stats_short(operations, a), wsh_stats_short(bytes, b), line);
}
