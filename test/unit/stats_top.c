/* SPDX-License-Identifier: BSD-3-Clause */
/* --top names the PE that the others wait for, keeps to the lines and columns there are, and trusts no page. */
#include "base/stats/top.h"

#include "test/common/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define N 4

static struct wsh_top_row rows[N];

/* PE 2 is late: the others have waited for it, the longer the higher their number. */
static void fill(void)
{
    for (int pe = 0; pe < N; pe++) {
        struct wsh_stats_page page = {.pe = pe,
                                      .pid = 100 + pe,
                                      .at = 1000000000,
                                      .most_pe = pe == 2 ? 0 : 2,
                                      .most_ns = (uint64_t)(pe + 1) * 1000000,
                                      .wait_since = pe == 2 ? 0 : 1000000000,
                                      .wait_pe = 2,
                                      .routine = "shmem_barrier_all"};

        rows[pe] = (struct wsh_top_row){0};
        wsh_top_update(&rows[pe], &page);
        page.at = 2000000000;
        page.bytes = 5000000;
        wsh_top_update(&rows[pe], &page);
    }
}

static void late_is_named(void)
{
    struct wsh_text text = {0};
    double seconds;

    fill();
    CU_ASSERT_EQUAL(wsh_top_late(rows, N, &seconds), 2);
    CU_ASSERT_DOUBLE_EQUAL(seconds, 0.007, 1e-9); /* of PEs 0, 1 and 3 */
    wsh_top_line(&text, rows, N, 1500000000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text.bytes);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text.bytes, "4 PEs, 3 wait, longest PE 0: shmem_barrier_all waits for PE 2 0.500 s"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.bytes, "20.0 M B/s"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.bytes, "most waited for: PE 2, 0.007 s"));
    wsh_text_free(&text);
}

static void table_fits(void)
{
    struct wsh_text text = {0};

    fill();
    wsh_top_table(&text, rows, N, 1500000000, 5, 40);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text.bytes);
    CU_ASSERT_EQUAL(unit_lines(text.bytes), 5);
    for (const char *line = text.bytes; *line; line += strcspn(line, "\n") + 1)
        CU_ASSERT(strcspn(line, "\n") <= 40);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.bytes, "and 2 PEs more"));
    wsh_text_free(&text);
}

static void shorts_are_short(void)
{
    char text[16];

    CU_ASSERT_STRING_EQUAL(wsh_stats_short(0, text), "0");
    CU_ASSERT_STRING_EQUAL(wsh_stats_short(999, text), "999");
    CU_ASSERT_STRING_EQUAL(wsh_stats_short(999.9, text), "1.0 k");
    CU_ASSERT_STRING_EQUAL(wsh_stats_short(123456789, text), "123 M");
    CU_ASSERT(strlen(wsh_stats_short(1e30, text)) < sizeof text);
}

/* A page that another program wrote: texts without end, and with bytes that a terminal would obey. */
static void page_is_tamed(void)
{
    struct wsh_stats_page page, copy;

    memset(&page, 0x1b, sizeof page);
    page.magic = WSH_STATS_MAGIC;
    CU_ASSERT_TRUE(wsh_stats_page_read(&page, &copy));
    CU_ASSERT_EQUAL(strlen(copy.routine), sizeof copy.routine - 1);
    CU_ASSERT_PTR_NULL(strchr(copy.routine, 0x1b));
    CU_ASSERT_PTR_NULL(strchr(copy.job, 0x1b));
    page.magic = 0;
    CU_ASSERT_FALSE(wsh_stats_page_read(&page, &copy));
}

/* The number in SHMEM_OSHRUN_STATS may be that of any file. */
static void only_pages_are_taken(void)
{
    const char *pages;
    int fd = wsh_stats_pages_make(2, &pages), other = open("/dev/zero", O_RDWR);
    struct wsh_stats_page *page;

    CU_ASSERT_FATAL(fd >= 0 && other >= 0);
    CU_ASSERT_PTR_NULL(wsh_stats_page_given(other, 0));
    CU_ASSERT_PTR_NULL(wsh_stats_page_given(1000, 0));
    CU_ASSERT_PTR_NULL(wsh_stats_page_given(fd, 2));
    CU_ASSERT_PTR_NULL(wsh_stats_page_given(fd, -1));
    page = wsh_stats_page_given(fd, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(page);
    page->pe = 7;
    CU_ASSERT_EQUAL(((const struct wsh_stats_page *)(const void *)(pages + WSH_STATS_BYTES))->pe, 7);
    wsh_stats_page_close(page);
    close(fd);
    close(other);
}

static void own_page_is_found(void)
{
    struct wsh_stats_page *page, copy;
    int fd;

    CU_ASSERT_EQUAL(wsh_stats_page_of(getpid(), &copy), -2);
    page = wsh_stats_page_make(&fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(page);
    page->pid = getpid();
    page->pe = 5;
    page->magic = WSH_STATS_MAGIC;
    CU_ASSERT_EQUAL(wsh_stats_page_of(getpid(), &copy), 0);
    CU_ASSERT_EQUAL(copy.pe, 5);
    wsh_stats_page_close(page);
    close(fd);
}

const struct unit_test unit_tests[] = {
    {"the PE that the others wait for is named", late_is_named},
    {"a table keeps to its lines and columns", table_fits},
    {"short numbers are short", shorts_are_short},
    {"a page is not trusted", page_is_tamed},
    {"no other file is taken for pages", only_pages_are_taken},
    {"the page of a process is found", own_page_is_found},
    {NULL, NULL},
};
