/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers: the only place where sizes and numbers of members decide between algorithms of the host. */
#include "runtime/coll/choose/choice.h"

#include "runtime/coll/memory/sync_area.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#define ONE (1U << WSH_LAYOUT_ONE)
#define HOSTS (1U << WSH_LAYOUT_HOSTS)
#define APART (1U << WSH_LAYOUT_APART)
#define FEW_CORES (1U << WSH_LAYOUT_FEW_CORES)
#define ANY (ONE | HOSTS | APART)
/* Commands and what they printed, of each algorithm on both sides of the threshold (sim/thresholds.sh). */
#define RUNS "sim/runs/thresholds.txt"
#define SLICES_NEEDS (WSH_NEED_NIC_HALF | WSH_NEED_QUEUES)
#define RAILS_NEEDS (WSH_NEED_EVEN | WSH_NEED_ROWS | WSH_NEED_MAPPED | WSH_NEED_RAILS)

/* clang-format off */
static const struct wsh_choice sync_rows[] = {
    {ONE, INT_MAX, SIZE_MAX, WSH_ALGO_WORDS, 0, "barrier with 2 to 16 PEs: one line a member is written"},
    {APART, 16, SIZE_MAX, WSH_ALGO_LINEAR, 0, "one step of the network; " RUNS},
    {FEW_CORES, 2, SIZE_MAX, WSH_ALGO_LINEAR, 0, "one step of the network"},
    {FEW_CORES, 64, SIZE_MAX, WSH_ALGO_FIRST, 0,
     "barrier over tcp with 4 to 16 PEs on 2 cores: fewest messages and turns on a core"},
    {HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_LEADERS, 0, "fewest messages between hosts"},
    {APART, INT_MAX, SIZE_MAX, WSH_ALGO_FANS, 0, "few steps of the network; " RUNS},
    {FEW_CORES, INT_MAX, SIZE_MAX, WSH_ALGO_ROUNDS, 0, "fewest messages a member"},
};
static const struct wsh_choice broadcast_rows[] = {
    {ANY, INT_MAX, WSH_SLOT_DATA, WSH_ALGO_LL, WSH_NEED_HOST_DEST, "data and flag are one cache line"},
    {ANY, 2, SIZE_MAX, WSH_ALGO_PUSH, 0, "broadcast_latency with 2 PEs"},
    {ANY, INT_MAX, 4096, WSH_ALGO_PUSH, 0, "broadcast_latency with 4 and 8 PEs"},
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_PULL, WSH_NEED_MAPPED, "all members copy at the same time"},
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_PUSH, 0, "device memory"},
};
static const struct wsh_choice tree_rows[] = {
    {FEW_CORES, 8, 4096, WSH_ALGO_ROUNDS, 0,
     "broadcast_latency over tcp with 4 and 8 PEs on 2 cores: several send at a time"},
    {ANY | FEW_CORES, INT_MAX, 4096, WSH_ALGO_FANS, 0, "few steps of the network; docs/guide/simulation.md"},
    {ANY | FEW_CORES, INT_MAX, SIZE_MAX, WSH_ALGO_ROUNDS, 0, "a NIC sends to fewer others, one after the other"},
};
static const struct wsh_choice fcollect_rows[] = {
    {ONE, INT_MAX, WSH_LL_DATA, WSH_ALGO_LL, WSH_NEED_HOST, "fcollect_latency with 2 to 8 PEs"},
    {ONE, 8, 524288, WSH_ALGO_PUSH, 0, "collect_latency with 2 to 8 PEs, 64 KiB to 4 MiB"},
    {ONE, INT_MAX, 32768, WSH_ALGO_PUSH, 0, "one step"},
    {ONE, INT_MAX, SIZE_MAX, WSH_ALGO_PULL, WSH_NEED_MAPPED, "collect_latency with 16 PEs, 64 KiB to 1 MiB"},
    {APART, 64, SIZE_MAX, WSH_ALGO_PUSH, WSH_NEED_QUEUES, "one step of the network; " RUNS},
    {APART, INT_MAX, SIZE_MAX, WSH_ALGO_ROUNDS, WSH_NEED_POWER,
     "collect_latency over tcp with 4 PEs: fewest messages"},
    {HOSTS | APART, INT_MAX, 64, WSH_ALGO_DOUBLING, WSH_NEED_ROWS | WSH_NEED_HOSTS_256, RUNS},
    {HOSTS, 32, 1024, WSH_ALGO_RAILS, RAILS_NEEDS, RUNS},
    {HOSTS, INT_MAX, 4096, WSH_ALGO_LEADERS, WSH_NEED_NIC_8, "few messages for each NIC; " RUNS},
    {HOSTS, 128, 64, WSH_ALGO_RAILS, RAILS_NEEDS, RUNS},
    {HOSTS, 64, 1024, WSH_ALGO_RAILS, RAILS_NEEDS, RUNS},
    {HOSTS, INT_MAX, 2048, WSH_ALGO_LEADERS, WSH_NEED_LOCALS_8, RUNS},
    {HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_RAILS, RAILS_NEEDS, RUNS},
    {HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_LEADERS, 0, "each block crosses the network once a host"},
    {ONE | APART, INT_MAX, SIZE_MAX, WSH_ALGO_PUSH, 0, "one step"},
};
static const struct wsh_choice collect_rows[] = {
    {ONE, INT_MAX, WSH_LL_DATA - 16, WSH_ALGO_LL, WSH_NEED_HOST, "each block beside its size: one step"},
    {ONE, 8, 524288, WSH_ALGO_PUSH, 0, "collect_latency with 2 to 8 PEs, 64 KiB to 4 MiB"},
    {ONE, INT_MAX, 32768, WSH_ALGO_PUSH, 0, "one step"},
    {ONE, INT_MAX, SIZE_MAX, WSH_ALGO_PULL, WSH_NEED_MAPPED, "collect_latency with 16 PEs, 64 KiB to 1 MiB"},
    {APART, 64, SIZE_MAX, WSH_ALGO_PUSH, WSH_NEED_QUEUES, "as fcollect"},
    {APART, INT_MAX, SIZE_MAX, WSH_ALGO_ROUNDS, WSH_NEED_POWER,
     "collect_latency over tcp with 4 PEs: fewest messages"},
    {HOSTS | APART, INT_MAX, 64, WSH_ALGO_DOUBLING, WSH_NEED_ROWS | WSH_NEED_HOSTS_256, "as fcollect"},
    {HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_LEADERS, 0, "each block crosses the network once a host"},
    {ONE | APART, INT_MAX, SIZE_MAX, WSH_ALGO_PUSH, 0, "one step"},
};
static const struct wsh_choice alltoall_rows[] = {
    {ONE, WSH_LINES_MAX, WSH_LINE_DATA, WSH_ALGO_LL, WSH_NEED_HOST, "a line with its flag for each member"},
    {ONE, 2 * WSH_LINES_MAX, WSH_LINE_DATA / 2, WSH_ALGO_LL, WSH_NEED_HOST, "a line for two members"},
    {ONE, 7 * WSH_LINES_MAX, WSH_LINE_DATA / 7, WSH_ALGO_LL, WSH_NEED_HOST, "a line for seven members"},
    {ONE, 2, 262144, WSH_ALGO_PUSH, 0, "alltoall_latency with 2 PEs: one step"},
    {ONE, 8, 262144, WSH_ALGO_PUSH, 0, "alltoall_latency with 4 and 8 PEs: one step"},
    {ONE, INT_MAX, 32768, WSH_ALGO_PUSH, 0, "alltoall_latency with 16 PEs: one step"},
    {ONE, INT_MAX, SIZE_MAX, WSH_ALGO_PULL, WSH_NEED_MAPPED, "alltoall_latency: readers have it in their caches"},
    {HOSTS | APART, INT_MAX, 64, WSH_ALGO_GRID, WSH_NEED_GRID | WSH_NEED_HOST, RUNS},
    {HOSTS, INT_MAX, 4096, WSH_ALGO_RAILS, RAILS_NEEDS | WSH_NEED_HOSTS_4, RUNS},
    {HOSTS, INT_MAX, 4096, WSH_ALGO_RAILS, RAILS_NEEDS | WSH_NEED_LOCALS_8, RUNS},
    {HOSTS, INT_MAX, 1024, WSH_ALGO_RAILS, RAILS_NEEDS, RUNS},
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_PUSH, 0, "alltoall_latency: one step"},
};
static const struct wsh_choice alltoalls_rows[] = {
    {ONE, WSH_LINES_MAX, WSH_LINE_DATA, WSH_ALGO_LL, WSH_NEED_HOST, "as alltoall"},
    {ONE, 2 * WSH_LINES_MAX, WSH_LINE_DATA / 2, WSH_ALGO_LL, WSH_NEED_HOST, "as alltoall"},
    {ONE, 7 * WSH_LINES_MAX, WSH_LINE_DATA / 7, WSH_ALGO_LL, WSH_NEED_HOST, "as alltoall"},
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_PUSH, 0, "elements go straight from stride to stride"},
};
static const struct wsh_choice reduce_rows[] = {
    {ONE, INT_MAX, WSH_LL_DATA, WSH_ALGO_LL, 0, "reduce_latency with 2 to 8 PEs: one step"},
    {APART, 2, 2 * WSH_ROUND_DATA, WSH_ALGO_LEADERS, 0, "as many steps as by halves, and smaller messages"},
    {APART, 2, 262144, WSH_ALGO_WHOLE, 0, "reduce_latency over net with 2 PEs: one step"},
    {APART, 2, SIZE_MAX, WSH_ALGO_PUSH, 0, "perftest's net ops: two steps without a sync and without reads"},
    {HOSTS | APART, INT_MAX, 1024, WSH_ALGO_LEADERS, 0, RUNS},
    {HOSTS, INT_MAX, 2048, WSH_ALGO_LEADERS, WSH_NEED_NIC_8, "few messages for each NIC; " RUNS},
    {HOSTS, 32, 65536, WSH_ALGO_SLICES, SLICES_NEEDS | WSH_NEED_HOSTS_4, RUNS},
    {HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_RAILS, WSH_NEED_EVEN | WSH_NEED_HOSTS_4 | WSH_NEED_LOCALS_8, RUNS},
    {HOSTS, 128, 65536, WSH_ALGO_SLICES, SLICES_NEEDS | WSH_NEED_HOSTS_4, RUNS},
    {HOSTS, INT_MAX, 4096, WSH_ALGO_RAILS, WSH_NEED_EVEN | WSH_NEED_HOSTS_4, RUNS},
    {APART, 256, 4096, WSH_ALGO_SLICES, WSH_NEED_QUEUES | WSH_NEED_HOSTS_4, RUNS},
    {HOSTS | APART, INT_MAX, 2048, WSH_ALGO_LEADERS, 0, RUNS},
    {HOSTS, 32, 65536, WSH_ALGO_SLICES, SLICES_NEEDS, RUNS},
    {HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_RAILS, WSH_NEED_EVEN | WSH_NEED_CORES, RUNS},
    {HOSTS | APART, INT_MAX, 4096, WSH_ALGO_LEADERS, 0,
     "reduce_latency over net, 2 to 16 PEs, and 64 on 8 emulated hosts: fewest messages, in pieces of a cell"},
    {HOSTS, INT_MAX, SIZE_MAX, WSH_ALGO_RAILS, WSH_NEED_EVEN, "each byte crosses the network once a host"},
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_SLICES, 0, "reduce_latency: two syncs at any size"},
};
static const struct wsh_choice scan_rows[] = {
    {ONE, INT_MAX, WSH_LL_DATA, WSH_ALGO_LL, 0, "scan_latency with 2 to 8 PEs: one step"},
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_SLICES, 0, "scan_latency: two syncs at any size"},
};
static const struct wsh_choice send_rows[] = {
    {ANY, 64, 1024, WSH_ALGO_SHORT, 0, "what fits a message of every network along with its signal"},
    {ANY, INT_MAX, 512, WSH_ALGO_SHORT, 0, "the same in jobs of more than 64 PEs, whose messages are of 640 bytes"},
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_COUNTED, 0, "no wait for the arrival of each message"},
};
static const struct wsh_choice copy_rows[] = {
#if defined(__x86_64__)
    {ANY, INT_MAX, 1, WSH_ALGO_CACHED, 0, "what is read next is in the caches still"},
    {ANY, INT_MAX, 2, WSH_ALGO_STRING, 0, "alltoall_latency of 1 MiB with 4 to 16 PEs on 2 cores"},
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_STREAMED, 0, "the same beyond the caches of 32 MiB"},
#else
    {ANY, INT_MAX, SIZE_MAX, WSH_ALGO_CACHED, 0, "no other copy for this processor"},
#endif
};
/* clang-format on */

#define ROWS(ROUTINE, NAME, WORD) [WSH_COLL_##ROUTINE] = NAME##_rows,
#define COUNT(ROUTINE, NAME, WORD) [WSH_COLL_##ROUTINE] = sizeof NAME##_rows / sizeof *NAME##_rows,
#define WORD(ROUTINE, NAME, WORD) [WSH_COLL_##ROUTINE] = WORD,
#define ROUTINES(X)                      \
    X(SYNC, sync, "sync")                \
    X(BROADCAST, broadcast, "broadcast") \
    X(TREE, tree, "a tree")              \
    X(FCOLLECT, fcollect, "fcollect")    \
    X(COLLECT, collect, "collect")       \
    X(ALLTOALL, alltoall, "alltoall")    \
    X(ALLTOALLS, alltoalls, "alltoalls") \
    X(REDUCE, reduce, "reduce")          \
    X(SCAN, scan, "scan")                \
    X(SEND, send, "a message")           \
    X(COPY, copy, "a copy")

const struct wsh_choice *const wsh_choice_rows[WSH_COLL_ROUTINES] = {ROUTINES(ROWS)};

int wsh_choice_count(enum wsh_coll_routine routine)
{
    static const int counts[WSH_COLL_ROUTINES] = {ROUTINES(COUNT)};

    return counts[routine];
}

const char *wsh_choice_routine(enum wsh_coll_routine routine)
{
    static const char *const words[WSH_COLL_ROUTINES] = {ROUTINES(WORD)};

    return words[routine];
}

#define ALGO_WORD(NAME, WORD, MEANING) WORD,
#define ALGO_MEANING(NAME, WORD, MEANING) MEANING,

const char *wsh_choice_algo(enum wsh_algo algo)
{
    static const char *const words[] = {WSH_ALGO_LIST(ALGO_WORD)};

    return words[algo];
}

const char *wsh_choice_algo_meaning(enum wsh_algo algo)
{
    static const char *const meanings[] = {WSH_ALGO_LIST(ALGO_MEANING)};

    return meanings[algo];
}

static const struct {
    const char *word, *meaning;
} layout_texts[WSH_LAYOUTS] = {
    [WSH_LAYOUT_ONE] = {"one host", "all members share memory"},
    [WSH_LAYOUT_HOSTS] = {"several hosts", "some members share memory"},
    [WSH_LAYOUT_APART] = {"apart", "no two members share memory; the leaders of hosts among themselves too"},
    [WSH_LAYOUT_FEW_CORES] = {"few cores", "apart, and some machine has fewer cores than PEs"},
};

const char *wsh_choice_layout(enum wsh_layout layout)
{
    return layout_texts[layout].word;
}

const char *wsh_choice_layout_meaning(enum wsh_layout layout)
{
    return layout_texts[layout].meaning;
}

/* Word i behind those that `text` holds. */
static void text_append(char *text, size_t size, const char *word)
{
    size_t used = 0;

    while (text[used])
        used++;
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

const char *wsh_choice_layouts(unsigned layouts, char *text, size_t size)
{
    if ((layouts & ANY) == ANY)
        return "any";
    *text = '\0';
    for (int i = 0; i < WSH_LAYOUTS; i++)
        if (layouts >> i & 1)
            text_append(text, size, wsh_choice_layout((enum wsh_layout)i));
    return text;
}

const char *wsh_choice_needs(unsigned needs, char *text, size_t size)
{
    static const char *const words[] = {
        "host memory",
        "dest in host memory",
        "memory that is mapped here",
        "hosts with equally many members",
        "a power of two of members",
        "hosts whose members follow each other",
        "4 hosts or more",
        "256 hosts or more",
        "128 hosts or more, as many members as rows and columns of like length",
        "8 members of a host or more",
        "a core for each PE",
        "a NIC for every two members of a host",
        "8 members of a host or more for each of its NICs",
        "4 hosts or more, or a core for each PE",
        "a core for each PE and no sockets"};

    *text = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (needs >> i & 1)
            text_append(text, size, words[i]);
    return text;
}

const char *wsh_choice_len(enum wsh_coll_routine routine, size_t len_max, char *text, size_t size)
{
    if (len_max == SIZE_MAX)
        return "any";
    if (routine == WSH_COLL_COPY)
        return len_max == 1 ? "1/2 cache" : "cache";
    snprintf(text, size, "%zu", len_max);
    return text;
}
