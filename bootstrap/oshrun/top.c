/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the PEs: at the head of a terminal, whose rest scrolls below, or as a line now and then. */
#include "bootstrap/oshrun/top.h"

#include "bootstrap/oshrun/environ.h"
#include "bootstrap/oshrun/io.h"
#include "base/env/env.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECONDS 1.0       /* between two pictures on a terminal */
#define LINE_SECONDS 10.0 /* between two lines elsewhere */
#define LEAST_LINES 4

int wsh_top_open(struct wsh_top *top, const struct wsh_args *args)
{
    *top = (struct wsh_top){.fd = -1, .n_pes = args->n_pes, .shows = args->top};
    if (!args->top && !wsh_env_text("SHMEM_METRICS_FILE"))
        return 0;
    top->rows = calloc((size_t)args->n_pes, sizeof *top->rows);
    top->fd = top->rows ? wsh_stats_pages_make(args->n_pes, &top->pages) : -ENOMEM;
    if (top->fd < 0) {
        int err = top->fd;

        wsh_say("no memory for the statistics of the PEs: %s; leave out --top and SHMEM_METRICS_FILE",
                wsh_strerror(err));
        return err;
    }
    top->terminal = isatty(wsh_say_fd());
    top->next = wsh_now() + (top->terminal ? SECONDS : LINE_SECONDS);
    return 0;
}

int wsh_top_environ(const struct wsh_top *top, char ***env)
{
    return wsh_environ_set_int(env, "SHMEM_OSHRUN_STATS", top->fd);
}

double wsh_top_wait(const struct wsh_top *top)
{
    double left = top->next - wsh_now();

    if (top->fd < 0)
        return -1;
    return left > 0 ? left : 0;
}

/* What a PE has shown last stays when it ends. */
static void pages_read(struct wsh_top *top)
{
    for (int pe = 0; pe < top->n_pes; pe++) {
        struct wsh_stats_page page;

        if (wsh_stats_page_read(top->pages + (size_t)pe * WSH_STATS_BYTES, &page))
            wsh_top_update(&top->rows[pe], &page);
    }
}

static void bytes_write(const struct wsh_text *text)
{
    (void)!wsh_text_write(text, wsh_say_fd());
}

/* The lines above scroll away, and those below scroll by themselves from now on. */
static void screen_divide(struct wsh_top *top, int height, int lines, struct wsh_text *text)
{
    if (!top->lines)
        for (int i = 0; i < height; i++)
            wsh_text_add(text, "\n");
    wsh_text_add(text, "\033[%d;%dr\033[%d;1H", lines + 1, height, top->lines ? height : lines + 1);
    top->lines = lines;
    top->height = height;
}

static void screen_show(struct wsh_top *top)
{
    struct winsize size = {0};
    struct wsh_text text = {0}, table = {0};
    int height, width, lines, at = 0;

    ioctl(wsh_say_fd(), TIOCGWINSZ, &size);
    height = size.ws_row >= 2 * LEAST_LINES ? size.ws_row : 24;
    width = size.ws_col >= 20 ? size.ws_col : 80;
    lines = top->n_pes + 3 < height / 2 ? top->n_pes + 3 : height / 2;
    if (top->height != height)
        screen_divide(top, height, lines, &text);
    wsh_top_table(&table, top->rows, top->n_pes, wsh_stats_now(), lines, width);
    wsh_text_add(&text, "\0337");
    for (const char *line = table.bytes; line && *line && at < lines; at++) {
        int len = (int)strcspn(line, "\n");

        wsh_text_add(&text, "\033[%d;1H\033[2K%.*s", at + 1, len, line);
        line += len + (line[len] == '\n');
    }
    wsh_text_add(&text, "\0338");
    bytes_write(&text);
    wsh_text_free(&table);
    wsh_text_free(&text);
}

static void line_show(const struct wsh_top *top)
{
    struct wsh_text text = {0};

    wsh_top_line(&text, top->rows, top->n_pes, wsh_stats_now());
    if (text.bytes)
        wsh_say("%.*s", (int)strcspn(text.bytes, "\n"), text.bytes);
    wsh_text_free(&text);
}

static void show(struct wsh_top *top)
{
    if (top->shows && top->terminal)
        screen_show(top);
    else if (top->shows)
        line_show(top);
}

void wsh_top_work(struct wsh_top *top)
{
    if (top->fd < 0 || wsh_now() < top->next)
        return;
    top->next = wsh_now() + (top->terminal ? SECONDS : LINE_SECONDS);
    pages_read(top);
    show(top);
}

void wsh_top_finish(struct wsh_top *top)
{
    if (top->fd < 0)
        return;
    pages_read(top);
    for (int pe = 0; pe < top->n_pes; pe++) {
        struct wsh_stats_page page;

        top->rows[pe].page.wait_since = 0;
        if (wsh_stats_page_read(top->pages + (size_t)pe * WSH_STATS_BYTES, &page))
            wsh_stats_metrics_remove(&page);
    }
    show(top);
}

void wsh_top_close(struct wsh_top *top)
{
    struct wsh_text text = {0};

    if (top->lines) {
        wsh_text_add(&text, "\0337\033[r\0338");
        bytes_write(&text);
        wsh_text_free(&text);
    }
    free(top->rows);
    if (top->fd < 0)
        return;
    munmap((void *)(uintptr_t)top->pages, (size_t)top->n_pes * WSH_STATS_BYTES);
    close(top->fd);
    top->fd = -1;
}
