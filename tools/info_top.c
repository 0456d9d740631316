/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the pages of the PEs of one job on this host, which it finds among the processes of this user. */
#define _GNU_SOURCE
#include "tools/info_top.h"

#include "base/stats/top.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct screen {
    struct wsh_top_row *rows; /* [n], by number of the PE */
    int n, room;
};

static bool is_same_job(const struct wsh_stats_page *a, const struct wsh_stats_page *b)
{
    return a->n_pes == b->n_pes && !strcmp(a->job, b->job);
}

/* The row of a PE, which is new where it has none. NULL: memory is short. */
static struct wsh_top_row *row_of(struct screen *screen, int pe)
{
    int at = 0;

    while (at < screen->n && screen->rows[at].page.pe < pe)
        at++;
    if (at < screen->n && screen->rows[at].page.pe == pe)
        return &screen->rows[at];
    if (screen->n == screen->room) {
        int room = screen->room ? 2 * screen->room : 16;
        struct wsh_top_row *rows = realloc(screen->rows, (size_t)room * sizeof *rows);

        if (!rows)
            return NULL;
        screen->rows = rows;
        screen->room = room;
    }
    memmove(&screen->rows[at + 1], &screen->rows[at], (size_t)(screen->n - at) * sizeof *screen->rows);
    memset(&screen->rows[at], 0, sizeof screen->rows[at]);
    screen->n++;
    return &screen->rows[at];
}

/* All processes of this user that are PEs of the job of `own`. */
static void pages_read(struct screen *screen, const struct wsh_stats_page *own)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        struct wsh_stats_page page;
        struct wsh_top_row *row;

        if (!isdigit((unsigned char)entry->d_name[0]) || wsh_stats_page_of(atoi(entry->d_name), &page) ||
            !is_same_job(&page, own))
            continue;
        row = row_of(screen, page.pe);
        if (row)
            wsh_top_update(row, &page);
    }
    if (dir)
        closedir(dir);
}

static void show(const struct screen *screen, bool terminal)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    struct wsh_text text = {0};

    if (terminal) {
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        wsh_text_add(&text, "\033[H\033[J");
        wsh_top_table(&text, screen->rows, screen->n, wsh_stats_now(), size.ws_row ? size.ws_row - 1 : 23,
                      size.ws_col ? size.ws_col : 80);
    } else {
        wsh_top_line(&text, screen->rows, screen->n, wsh_stats_now());
    }
    wsh_text_write(&text, STDOUT_FILENO);
    wsh_text_free(&text);
}

static int refuse(const char *pid, int rc)
{
    if (rc == -EACCES)
        fprintf(stderr, "warpshmem-info: process %s is another user's; run it as that user\n", pid);
    else if (rc == -ESRCH)
        fprintf(stderr, "warpshmem-info: there is no process %s on this host; give that of a PE\n", pid);
    else
        fprintf(stderr,
                "warpshmem-info: process %s is no PE, or has not come to shmem_init; give that of a PE, "
                "which begins "
                "its messages\n",
                pid);
    return 1;
}

int wsh_info_top(const char *pid)
{
    bool terminal = isatty(STDOUT_FILENO);
    struct wsh_stats_page own;
    struct screen screen = {0};
    char *end;
    long number = strtol(pid, &end, 10);
    int rc;

    if (end == pid || *end || number < 1 || number > 1 << 30) {
        fprintf(stderr, "warpshmem-info: --top '%s': write the process id of a PE\n", pid);
        return 2;
    }
    rc = wsh_stats_page_of((pid_t)number, &own);
    if (rc)
        return refuse(pid, rc);
    while (!wsh_stats_page_of((pid_t)number, &own)) {
        pages_read(&screen, &own);
        show(&screen, terminal);
        sleep(terminal ? 1 : 10);
    }
    free(screen.rows);
    return 0;
}
