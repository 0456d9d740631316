/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of NICs are read as users write them; one that leaves nothing is refused in one line. */
#include "topo/niclist.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct wsh_topo_dev nic[WSH_TOPO_NICS] = {
    {.name = "rdmap79s0", .pci = "0000:4f:00.0"},
    {.name = "rdmap80s0", .pci = "0000:50:00.0"},
    {.name = "mlx5_1", .pci = "0000:a0:00.0"},
    {.name = "mlx5_10", .pci = "0000:A1:00.0"},
};

struct filter {
    const char *include, *exclude;
    uint64_t usable;
    int n, rc;
};

static void run(void *arg)
{
    struct filter *filter = arg;

    filter->rc = wsh_niclist_filter(nic, filter->n, filter->include, filter->exclude, &filter->usable);
}

static void reads_lists(void)
{
    static const struct {
        const char *include, *exclude;
        unsigned usable;
        size_t lines;
    } rows[] = {
        {NULL, NULL, 0xf, 0},
        {"rdmap79s0", NULL, 0x1, 0},
        {"rdmap79s0,mlx5_1", NULL, 0x5, 0},
        {"rdmap*", NULL, 0x3, 0},
        {"mlx5_1:1", NULL, 0x4, 0},
        {"mlx5_1?", NULL, 0x8, 0},
        {"0000:50:00.0,0000:a1:00.0", NULL, 0xa, 0},
        {"^mlx5_1", NULL, 0xb, 0},
        {"^mlx5_1:1,rdmap80s0", NULL, 0x9, 0},
        {"^nothing", NULL, 0xf, 0},
        {NULL, "rdmap79s0", 0xe, 0},
        {NULL, "nothing", 0xf, 0},
        {"rdmap*", "*80*", 0x1, 0},
        {"rdmap79s0,rdmap99s0", NULL, 0x1, 1},
        {"rdmap79s0,,mlx5_1,", NULL, 0x5, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct filter filter = {rows[i].include, rows[i].exclude, 0, 4, 1};
        char text[1024];

        unit_capture(run, &filter, text, sizeof text);
        CU_ASSERT_EQUAL(filter.rc, 0);
        CU_ASSERT_EQUAL(filter.usable, rows[i].usable);
        CU_ASSERT_EQUAL(unit_lines(text), rows[i].lines);
        if (filter.usable != rows[i].usable || unit_lines(text) != rows[i].lines)
            printf("row %zu: %#llx, '%s'\n", i, (unsigned long long)filter.usable, text);
    }
}

static void refuses_what_leaves_nothing(void)
{
    static const char *const rows[][2] = {
        {"rdmap99s0", NULL}, {"rdmap*", "rdmap*"}, {NULL, "*"}, {"^*", NULL}, {":", NULL}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct filter filter = {rows[i][0], rows[i][1], 0, 4, 1};
        char text[1024];

        unit_capture(run, &filter, text, sizeof text);
        CU_ASSERT_EQUAL(filter.rc, -ENODEV);
        CU_ASSERT(unit_lines(text) == 1 && strstr(text, "SHMEM_NICS") &&
                  strstr(text, "rdmap79s0, rdmap80s0"));
    }
}

static void lists_mean_nothing_without_nics(void)
{
    struct filter filter = {"rdmap79s0", "x", 7, 0, 1};
    char text[1024];

    unit_capture(run, &filter, text, sizeof text);
    CU_ASSERT(filter.rc == 0 && filter.usable == 0 && unit_lines(text) == 0);
}

static void takes_as_many_nics_as_there_may_be(void)
{
    struct filter filter = {NULL, NULL, 0, WSH_TOPO_NICS, 1};

    run(&filter);
    CU_ASSERT(filter.rc == 0 && filter.usable == ~(uint64_t)0);
}

const struct unit_test unit_tests[] = {
    {"reads lists", reads_lists},
    {"refuses what leaves nothing", refuses_what_leaves_nothing},
    {"lists mean nothing without NICs", lists_mean_nothing_without_nics},
    {"takes as many NICs as there may be", takes_as_many_nics_as_there_may_be},
    {NULL, NULL},
};
