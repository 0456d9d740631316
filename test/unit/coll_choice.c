/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of choice.c holds what its readers rely on: every row names an algorithm that its routine has, none is
 * hidden behind the rows before it, and for every call there is one.
 */
#include "runtime/coll/choose/choice.h"

#include "runtime/coll/choose/dispatch.h"
#include "runtime/coll/memory/sync_area.h"
#include "test/common/unit.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LAYOUTS_OF_STEPS (1U << WSH_LAYOUT_FEW_CORES | 7U)

static bool is_filled(const void *functions, size_t width, enum wsh_algo algo)
{
    static const char nothing[sizeof(void *)];

    return memcmp((const char *)functions + (size_t)algo * width, nothing, width) != 0;
}

#define HAS(BY) is_filled(BY, sizeof *(BY), algo)

static bool routine_has(enum wsh_coll_routine routine, enum wsh_algo algo)
{
    switch (routine) {
    case WSH_COLL_SYNC: return HAS(wsh_sync_by);
    case WSH_COLL_BROADCAST: return HAS(wsh_share_by);
    case WSH_COLL_TREE: return HAS(wsh_tree_base);
    case WSH_COLL_FCOLLECT: return HAS(wsh_fcollect_by);
    case WSH_COLL_COLLECT: return HAS(wsh_collect_by);
    case WSH_COLL_ALLTOALL: return HAS(wsh_alltoall_by);
    case WSH_COLL_ALLTOALLS: return HAS(wsh_alltoalls_by);
    case WSH_COLL_REDUCE: return HAS(wsh_reduce_by);
    case WSH_COLL_SCAN: return HAS(wsh_scan_by);
    case WSH_COLL_SEND: return HAS(wsh_send_by);
    case WSH_COLL_COPY: return HAS(wsh_copy_by);
    default: return false;
    }
}

/* Rows whose algorithm the routine lacks; said one by one. */
static int count_lacking(enum wsh_coll_routine routine, const struct wsh_choice *rows, int n)
{
    int lacking = 0;

    for (int i = 0; i < n; i++) {
        if (routine_has(routine, rows[i].algo))
            continue;
        lacking++;
        printf("# row %d of %s: the routine has no algorithm '%s'\n", i + 1, wsh_choice_routine(routine),
               wsh_choice_algo(rows[i].algo));
    }
    return lacking;
}

static void rows_name_what_routines_have(void)
{
    for (int r = 0; r < WSH_COLL_ROUTINES; r++)
        CU_ASSERT(count_lacking((enum wsh_coll_routine)r, wsh_choice_rows[r],
                                wsh_choice_count((enum wsh_coll_routine)r)) == 0);
}

/* What a routine lacks is found lacking. */
static void a_row_too_many_is_refused(void)
{
    const struct wsh_choice rows[] = {{7, INT_MAX, 64, WSH_ALGO_PUSH, 0, "has it"},
                                      {7, INT_MAX, SIZE_MAX, WSH_ALGO_SLICES, 0, "lacks it"}};

    CU_ASSERT(count_lacking(WSH_COLL_ALLTOALL, rows, 2) == 1);
    CU_ASSERT(count_lacking(WSH_COLL_SCAN, rows, 2) == 1);
    CU_ASSERT(count_lacking(WSH_COLL_BROADCAST, rows, 2) == 1);
    CU_ASSERT(count_lacking(WSH_COLL_COPY, rows, 2) == 2);
}

/*
 * Every algorithm that a routine has is in some row, but the one of broken teams; nothing waits in vain. On other
 * processors some copies do not.
 */
static void routines_have_what_rows_name(void)
{
    for (int r = 0; r < WSH_COLL_ROUTINES; r++) {
        unsigned named = 0;

        for (int i = 0; i < wsh_choice_count((enum wsh_coll_routine)r); i++)
            named |= 1U << wsh_choice_rows[r][i].algo;
        for (int algo = 0; algo < WSH_ALGOS; algo++)
            if (algo != WSH_ALGO_REFUSED && routine_has((enum wsh_coll_routine)r, (enum wsh_algo)algo))
                CU_ASSERT(named >> algo & 1);
    }
}

/* Whether some call that the table decides comes to row `at`; the rows before it may lack what they need. */
static bool is_reached(const struct wsh_choice *rows, int at, enum wsh_layout layout)
{
    for (int i = 0; i < at; i++)
        if (rows[i].layouts >> layout & 1 && rows[i].pes_max >= rows[at].pes_max &&
            rows[i].len_max >= rows[at].len_max && !rows[i].needs)
            return false;
    return true;
}

static void no_row_is_hidden(void)
{
    for (int r = 0; r < WSH_COLL_ROUTINES; r++)
        for (int i = 0; i < wsh_choice_count((enum wsh_coll_routine)r); i++) {
            bool reached = false;

            for (int layout = 0; layout < WSH_LAYOUTS; layout++)
                if (wsh_choice_rows[r][i].layouts >> layout & 1)
                    reached |= is_reached(wsh_choice_rows[r], i, (enum wsh_layout)layout);
            CU_ASSERT(reached);
        }
}

static bool fits_all(const struct wsh_choice *row, enum wsh_layout layout)
{
    return row->layouts >> layout & 1 && row->pes_max == INT_MAX && row->len_max == SIZE_MAX && !row->needs;
}

/* The walk through the rows ends: also where nothing that rows need is there. */
static void every_call_finds_a_row(void)
{
    for (int r = 0; r < WSH_COLL_ROUTINES; r++) {
        bool steps = r == WSH_COLL_SYNC || r == WSH_COLL_TREE;
        unsigned layouts = steps ? LAYOUTS_OF_STEPS : 7U, ends = 0;

        for (int i = 0; i < wsh_choice_count((enum wsh_coll_routine)r); i++)
            for (int layout = 0; layout < WSH_LAYOUTS; layout++)
                ends |= (unsigned)fits_all(&wsh_choice_rows[r][i], (enum wsh_layout)layout) << layout;
        CU_ASSERT_EQUAL(ends, layouts);
    }
}

/* Leaders among themselves are apart: that they met by their leaders would never end. */
static void leaders_sync_by_other_means(void)
{
    for (int i = 0; i < wsh_choice_count(WSH_COLL_SYNC); i++)
        CU_ASSERT(wsh_choice_rows[WSH_COLL_SYNC][i].algo != WSH_ALGO_LEADERS ||
                  wsh_choice_rows[WSH_COLL_SYNC][i].layouts == 1U << WSH_LAYOUT_HOSTS);
}

/* Whether what a member writes where such a row is taken has room; reductions go in as many pieces as it takes. */
static bool has_room(enum wsh_coll_routine routine, const struct wsh_choice *row)
{
    if (routine == WSH_COLL_ALLTOALL || routine == WSH_COLL_ALLTOALLS)
        return row->len_max <= WSH_LINE_DATA &&
               WSH_LINE_DATA / row->len_max * WSH_LINES_MAX >= (size_t)row->pes_max;
    return row->len_max <= (routine == WSH_COLL_BROADCAST ? WSH_SLOT_DATA : WSH_LL_DATA);
}

static void ll_lines_have_room(void)
{
    for (int r = 0; r < WSH_COLL_ROUTINES; r++)
        for (int i = 0; i < wsh_choice_count((enum wsh_coll_routine)r); i++) {
            const struct wsh_choice *row = &wsh_choice_rows[r][i];

            if (row->algo == WSH_ALGO_LL && r != WSH_COLL_REDUCE)
                CU_ASSERT(has_room((enum wsh_coll_routine)r, row));
        }
}

/* Whether a broadcast goes by slots is the same in all domains, whose numbers of members differ. */
static void slots_are_for_any_number_of_members(void)
{
    for (int i = 0; i < wsh_choice_count(WSH_COLL_BROADCAST); i++) {
        const struct wsh_choice *row = &wsh_choice_rows[WSH_COLL_BROADCAST][i];

        if (row->algo == WSH_ALGO_LL)
            CU_ASSERT(row->pes_max == INT_MAX && row->layouts == 7U && row->needs == WSH_NEED_HOST_DEST);
    }
}

/* A call just at a row's limit and one just behind it take different rows. */
static void limits_are_where_rows_say(void)
{
    for (int r = 0; r < WSH_COLL_ROUTINES; r++)
        for (int i = 0; i < wsh_choice_count((enum wsh_coll_routine)r); i++) {
            const struct wsh_choice *row = &wsh_choice_rows[r][i];
            enum wsh_layout layout = (enum wsh_layout)__builtin_ctz(row->layouts);

            CU_ASSERT(wsh_choice_fits(row, layout, row->pes_max, row->len_max));
            if (row->len_max != SIZE_MAX)
                CU_ASSERT(wsh_choice_find((enum wsh_coll_routine)r, layout, row->pes_max, row->len_max + 1) !=
                          row);
            if (row->pes_max != INT_MAX)
                CU_ASSERT(wsh_choice_find((enum wsh_coll_routine)r, layout, row->pes_max + 1, row->len_max) !=
                          row);
        }
}

/* What a call takes that offers all that a row may ask of a call. */
static enum wsh_algo chosen(enum wsh_coll_routine routine, size_t len, const struct wsh_choice_team *team)
{
    enum wsh_layout layout = team->n_domains == team->n_pes ? WSH_LAYOUT_APART : WSH_LAYOUT_HOSTS;
    unsigned met = wsh_choice_met(team) | WSH_NEEDS_OF_CALL;
    const struct wsh_choice *row = wsh_choice_find(routine, layout, team->n_pes, len);

    while (row->needs & ~met)
        row = wsh_choice_next(row, layout, team->n_pes, len);
    return row->algo;
}

/* Both sides of each number of members a host, of NICs and of cores, and of sockets; nics 0: unknown. */
static const struct {
    enum wsh_coll_routine routine;
    size_t len;
    int hosts, locals, nics;
    bool cores, by_sockets;
    enum wsh_algo algo;
} shapes[] = {
    {WSH_COLL_FCOLLECT, 8, 16, 1, 4, true, false, WSH_ALGO_PUSH},
    {WSH_COLL_FCOLLECT, 8, 16, 1, 4, false, false, WSH_ALGO_ROUNDS},
    {WSH_COLL_FCOLLECT, 8, 128, 1, 4, true, false, WSH_ALGO_ROUNDS},
    {WSH_COLL_FCOLLECT, 8, 2, 4, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_FCOLLECT, 8, 2, 4, 4, false, false, WSH_ALGO_LEADERS},
    {WSH_COLL_FCOLLECT, 8, 4, 4, 4, false, false, WSH_ALGO_RAILS},
    {WSH_COLL_FCOLLECT, 512, 8, 8, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_FCOLLECT, 512, 9, 8, 4, true, false, WSH_ALGO_LEADERS},
    {WSH_COLL_FCOLLECT, 512, 64, 4, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_FCOLLECT, 4096, 64, 8, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_FCOLLECT, 4096, 64, 8, 1, true, false, WSH_ALGO_LEADERS},
    {WSH_COLL_FCOLLECT, 4096, 64, 7, 1, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_FCOLLECT, 4096, 64, 8, 0, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_COLLECT, 8, 16, 1, 4, true, false, WSH_ALGO_PUSH},
    {WSH_COLL_COLLECT, 8, 16, 1, 4, false, false, WSH_ALGO_ROUNDS},
    {WSH_COLL_ALLTOALL, 8, 2, 2, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_ALLTOALL, 8, 2, 2, 4, false, false, WSH_ALGO_PUSH},
    {WSH_COLL_ALLTOALL, 2048, 2, 7, 4, true, false, WSH_ALGO_PUSH},
    {WSH_COLL_ALLTOALL, 2048, 2, 8, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_ALLTOALL, 4096, 4, 2, 4, false, false, WSH_ALGO_RAILS},
    {WSH_COLL_ALLTOALL, 8, 127, 8, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_ALLTOALL, 8, 128, 8, 4, true, false, WSH_ALGO_GRID},
    {WSH_COLL_REDUCE, 4096, 4, 4, 2, true, false, WSH_ALGO_SLICES},
    {WSH_COLL_REDUCE, 4096, 4, 4, 1, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_REDUCE, 4096, 4, 4, 0, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_REDUCE, 4096, 4, 4, 2, false, false, WSH_ALGO_RAILS},
    {WSH_COLL_REDUCE, 4096, 16, 7, 4, true, false, WSH_ALGO_SLICES},
    {WSH_COLL_REDUCE, 4096, 16, 8, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_REDUCE, 2048, 4, 8, 4, true, false, WSH_ALGO_SLICES},
    {WSH_COLL_REDUCE, 2048, 4, 8, 1, true, false, WSH_ALGO_LEADERS},
    {WSH_COLL_REDUCE, 2048, 8, 1, 1, true, false, WSH_ALGO_SLICES},
    {WSH_COLL_REDUCE, 2048, 8, 1, 1, false, false, WSH_ALGO_LEADERS},
    {WSH_COLL_REDUCE, 4096, 2, 16, 4, true, false, WSH_ALGO_RAILS},
    {WSH_COLL_REDUCE, 4096, 2, 16, 4, false, false, WSH_ALGO_LEADERS},
    {WSH_COLL_FCOLLECT, 8, 16, 1, 1, true, true, WSH_ALGO_ROUNDS},
    {WSH_COLL_FCOLLECT, 8, 2, 4, 1, true, true, WSH_ALGO_RAILS},
    {WSH_COLL_COLLECT, 8, 16, 1, 1, true, true, WSH_ALGO_ROUNDS},
    {WSH_COLL_REDUCE, 2048, 8, 1, 1, true, true, WSH_ALGO_LEADERS},
    {WSH_COLL_REDUCE, 4096, 4, 2, 1, true, true, WSH_ALGO_RAILS},
};

static void members_and_nics_of_hosts_decide(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct wsh_choice_team team = {shapes[i].hosts * shapes[i].locals,
                                             shapes[i].hosts,
                                             shapes[i].nics,
                                             true,
                                             true,
                                             shapes[i].cores,
                                             shapes[i].by_sockets};
        enum wsh_algo algo = chosen(shapes[i].routine, shapes[i].len, &team);

        if (algo != shapes[i].algo)
            printf("# shape %zu: %s takes '%s'\n", i, wsh_choice_routine(shapes[i].routine),
                   wsh_choice_algo(algo));
        CU_ASSERT_EQUAL(algo, shapes[i].algo);
    }
}

/* Each need has its words, and no two the same. */
static void every_need_is_explained(void)
{
    char text[256], before[256] = "";

    for (unsigned need = 1; need <= WSH_NEED_QUEUES; need <<= 1) {
        wsh_choice_needs(need, text, sizeof text);
        CU_ASSERT(strlen(text) > 5 && strcmp(text, before));
        strcpy(before, text);
    }
    CU_ASSERT(!*wsh_choice_needs(2 * WSH_NEED_QUEUES, text, sizeof text));
}

static void every_word_is_explained(void)
{
    for (int algo = 0; algo < WSH_ALGOS; algo++) {
        CU_ASSERT(strlen(wsh_choice_algo((enum wsh_algo)algo)) > 0);
        CU_ASSERT(strlen(wsh_choice_algo_meaning((enum wsh_algo)algo)) > 5);
    }
    for (int layout = 0; layout < WSH_LAYOUTS; layout++)
        CU_ASSERT(strlen(wsh_choice_layout_meaning((enum wsh_layout)layout)) > 5);
}

const struct unit_test unit_tests[] = {
    {"every row names an algorithm that its routine has", rows_name_what_routines_have},
    {"a row whose algorithm its routine lacks is refused", a_row_too_many_is_refused},
    {"every algorithm of a routine is in a row", routines_have_what_rows_name},
    {"no row is hidden by those before it", no_row_is_hidden},
    {"every call finds a row", every_call_finds_a_row},
    {"leaders meet by other means than their leaders", leaders_sync_by_other_means},
    {"what goes by cells fits them", ll_lines_have_room},
    {"slots are for any number of members", slots_are_for_any_number_of_members},
    {"limits are where rows say", limits_are_where_rows_say},
    {"members, NICs and cores of hosts decide", members_and_nics_of_hosts_decide},
    {"every need is explained", every_need_is_explained},
    {"every word is explained", every_word_is_explained},
    {NULL, NULL},
};
