/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the tables by which collectives choose: the very rows that they read. */
#include "tools/info_coll.h"

#include "device/coll/choice.h"
#include "runtime/coll/choose/choice.h"

#include <limits.h>
#include <stdio.h>

/* The greatest number of members of a row. */
static const char *pes_text(int pes, char *text, size_t size)
{
    if (pes == INT_MAX)
        return "any";
    snprintf(text, size, "%d", pes);
    return text;
}

static void print_host_row(const char *form, enum wsh_coll_routine routine, const struct wsh_choice *row)
{
    char layouts[64], pes[16], len[32], needs[256], why[512];

    wsh_choice_needs(row->needs, needs, sizeof needs);
    snprintf(why, sizeof why, "%s%s%s%s", row->why, *needs ? " (needs " : "", needs, *needs ? ")" : "");
    printf(form, wsh_choice_routine(routine), wsh_choice_layouts(row->layouts, layouts, sizeof layouts),
           pes_text(row->pes_max, pes, sizeof pes), wsh_choice_len(routine, row->len_max, len, sizeof len),
           wsh_choice_algo(row->algo), why);
}

static void print_host(bool parsable)
{
    const char *form = parsable ? "collective:%s:%s:%s:%s:%s:%s\n" : "%-10s %-25s %-8s %-10s %-9s %s\n";

    if (!parsable) {
        puts("Collectives called on the host. The first row that fits is taken: up to so many members and "
             "bytes each.");
        printf(form, "routine", "members are on", "members", "bytes", "algorithm", "because");
    }
    for (int r = 0; r < WSH_COLL_ROUTINES; r++)
        for (int i = 0; i < wsh_choice_count((enum wsh_coll_routine)r); i++)
            print_host_row(form, (enum wsh_coll_routine)r, &wsh_choice_rows[r][i]);
}

enum device_routine { MOVE, BROADCAST, BROADCAST_TWO, COMBINE, REDUCE_HOSTS, REDUCE, SCATTER, SCAN, EVERY };
enum device_who { THREAD, WARP, BLOCK, ANY, STREAM, KERNEL };
enum device_of { EACH, ALL, SLICE };

static const char *const device_routines[] = {"alltoall, fcollect, collect",
                                              "broadcast",
                                              "broadcast, 2 members",
                                              "reduce, reducescatter, scan",
                                              "reduce, several hosts",
                                              "reduce",
                                              "reducescatter",
                                              "scan",
                                              "all"};
static const char *const device_whos[] = {"thread", "warp", "block", "any", "stream", "kernel"};
static const char *const device_ofs[] = {"each", "all", "slice"};

static const struct {
    enum device_routine routine;
    enum device_who who;
    enum wsh_algo algo;
    unsigned len; /* 0: any */
    enum device_of of;
    const char *why;
} device_rows[] = {
#define ROW(ROUTINE, WHO, ALGO, LEN, OF, WHY) {ROUTINE, WHO, WSH_ALGO_##ALGO, LEN, OF, WHY},
#define REST(ROUTINE, WHO, ALGO, WHY) {ROUTINE, WHO, WSH_ALGO_##ALGO, 0, EACH, WHY},
    WSH_DEVICE_CHOICES(ROW, REST)
#undef ROW
#undef REST
};

static void print_device(bool parsable)
{
    const char *form = parsable ? "device:%s:%s:%s:%s:%s:%s\n" : "%-28s %-7s %-8s %-6s %-9s %s\n";

    if (!parsable) {
        puts("\nCollectives called in kernels and on streams. Up to so many bytes, of each member's block, "
             "of a slice, or "
             "to all\nother members together; `by` is the scope of the call, a stream that chooses the "
             "blocks of its "
             "kernel, or a kernel\nof several blocks:");
        printf(form, "routine", "by", "bytes", "of", "algorithm", "because");
    }
    for (size_t i = 0; i < sizeof device_rows / sizeof *device_rows; i++) {
        char len[16] = "any";

        if (device_rows[i].len)
            snprintf(len, sizeof len, "%u", device_rows[i].len);
        printf(form, device_routines[device_rows[i].routine], device_whos[device_rows[i].who], len,
               device_ofs[device_rows[i].of], wsh_choice_algo(device_rows[i].algo), device_rows[i].why);
    }
}

static void print_words(bool parsable)
{
    const char *form = parsable ? "%s:%s:%s\n" : "%1$.0s  %2$-14s %3$s\n";

    if (!parsable)
        puts("\nWhere members are:");
    for (int i = 0; i < WSH_LAYOUTS; i++)
        printf(form, "members", wsh_choice_layout((enum wsh_layout)i),
               wsh_choice_layout_meaning((enum wsh_layout)i));
    if (!parsable)
        puts("\nAlgorithms:");
    for (int i = 0; i < WSH_ALGOS; i++)
        printf(form, "algorithm", wsh_choice_algo((enum wsh_algo)i),
               wsh_choice_algo_meaning((enum wsh_algo)i));
    if (!parsable)
        puts("\nA name of a perftest means that it chose the number.");
}

void wsh_info_collectives(bool parsable)
{
    print_host(parsable);
    print_device(parsable);
    print_words(parsable);
}
