/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the tables by which collectives choose: the very rows that they read. */
#include "tools/info_coll.h"

#include "device/coll/choice.h"
#include "runtime/coll/choose/choice.h"
#include "tools/info_row.h"

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

#define HOST_FORM "%-10s %-25s %-8s %-10s %-9s %s\n"
#define DEVICE_FORM "%-28s %-7s %-8s %-6s %-9s %s\n"

enum { COLUMNS = 6 };

static void print_row(bool parsable, const char *kind, const char *form, const char *const names[COLUMNS],
                      const char *const row[COLUMNS])
{
    if (parsable)
        wsh_info_row(stdout, kind, COLUMNS, names, row);
    else
        printf(form, row[0], row[1], row[2], row[3], row[4], row[5]);
}

static void print_host_row(bool parsable, enum wsh_coll_routine routine, const struct wsh_choice *row)
{
    static const char *const names[] = {"routine", "members_on", "members", "bytes", "algorithm", "because"};
    char layouts[64], pes[16], len[32], needs[256], why[512];

    wsh_choice_needs(row->needs, needs, sizeof needs);
    snprintf(why, sizeof why, "%s%s%s%s", row->why, *needs ? " (needs " : "", needs, *needs ? ")" : "");
    print_row(parsable, "collective", HOST_FORM, names,
              (const char *const[COLUMNS]){
                  wsh_choice_routine(routine), wsh_choice_layouts(row->layouts, layouts, sizeof layouts),
                  pes_text(row->pes_max, pes, sizeof pes),
                  wsh_choice_len(routine, row->len_max, len, sizeof len), wsh_choice_algo(row->algo), why});
}

static void print_host(bool parsable)
{
    if (!parsable) {
        puts("Collectives called on the host. The first row that fits is taken: up to so many members and "
             "bytes each.");
        printf(HOST_FORM, "routine", "members are on", "members", "bytes", "algorithm", "because");
    }
    for (int r = 0; r < WSH_COLL_ROUTINES; r++)
        for (int i = 0; i < wsh_choice_count((enum wsh_coll_routine)r); i++)
            print_host_row(parsable, (enum wsh_coll_routine)r, &wsh_choice_rows[r][i]);
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
    static const char *const names[] = {"routine", "by", "bytes", "of", "algorithm", "because"};

    if (!parsable) {
        puts("\nCollectives called in kernels and on streams. Up to so many bytes, of each member's block, "
             "of a slice, or "
             "to all\nother members together; `by` is the scope of the call, a stream that chooses the "
             "blocks of its "
             "kernel, or a kernel\nof several blocks:");
        printf(DEVICE_FORM, "routine", "by", "bytes", "of", "algorithm", "because");
    }
    for (size_t i = 0; i < sizeof device_rows / sizeof *device_rows; i++) {
        char len[16] = "any";

        if (device_rows[i].len)
            snprintf(len, sizeof len, "%u", device_rows[i].len);
        print_row(parsable, "device", DEVICE_FORM, names,
                  (const char *const[COLUMNS]){device_routines[device_rows[i].routine],
                                               device_whos[device_rows[i].who], len,
                                               device_ofs[device_rows[i].of],
                                               wsh_choice_algo(device_rows[i].algo), device_rows[i].why});
    }
}

static void print_word(bool parsable, const char *kind, const char *word, const char *meaning)
{
    static const char *const names[] = {"name", "meaning"};
    const char *const row[] = {word, meaning};

    if (parsable)
        wsh_info_row(stdout, kind, 2, names, row);
    else
        printf("  %-14s %s\n", word, meaning);
}

static void print_words(bool parsable)
{
    if (!parsable)
        puts("\nWhere members are:");
    for (int i = 0; i < WSH_LAYOUTS; i++)
        print_word(parsable, "members", wsh_choice_layout((enum wsh_layout)i),
                   wsh_choice_layout_meaning((enum wsh_layout)i));
    if (!parsable)
        puts("\nAlgorithms:");
    for (int i = 0; i < WSH_ALGOS; i++)
        print_word(parsable, "algorithm", wsh_choice_algo((enum wsh_algo)i),
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
