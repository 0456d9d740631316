/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm a collective takes, as data: by where the members are, how many they are, and how many bytes. */
#ifndef WSH_COLL_CHOICE_H
#define WSH_COLL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* What the table decides: the routines, and two steps that several of them have in common. */
enum wsh_coll_routine {
    WSH_COLL_SYNC,
    WSH_COLL_BROADCAST, /* inside a memory domain; whether data goes by LL lines, between domains too */
    WSH_COLL_TREE,      /* of a broadcast, between memory domains: as sync, of their number */
    WSH_COLL_FCOLLECT,
    WSH_COLL_COLLECT, /* by the largest block; 0 if a member has none */
    WSH_COLL_ALLTOALL,
    WSH_COLL_ALLTOALLS,
    WSH_COLL_REDUCE,
    WSH_COLL_SCAN,
    WSH_COLL_SEND, /* a message of a collective */
    WSH_COLL_COPY, /* a block read from another member; in halves of the caches, by what the call touches */
    WSH_COLL_ROUTINES
};

/*
 * All members share memory; some do; each is in memory of its own, the leaders of hosts among themselves too; the same
 * where some machine has fewer cores than PEs, for a sync and a tree.
 */
enum wsh_layout { WSH_LAYOUT_ONE, WSH_LAYOUT_HOSTS, WSH_LAYOUT_APART, WSH_LAYOUT_FEW_CORES, WSH_LAYOUTS };

/*
 * Every algorithm: X(name, word, what it does), a line each. A new one is a line here, a row in choice.c, and an entry
 * in the table of the routine that has it (dispatch.h). The last ones are of device code alone (device/coll/choice.h).
 */
/* clang-format off */
#define WSH_ALGO_LIST(X)                                                                                 \
    X(LINEAR, "linear", "every member signals every other member")                                       \
    X(ROUNDS, "rounds", "log2(members) rounds: sync by dissemination, collects by recursive doubling")   \
    X(FANS, "fans", "log8(members) rounds, a member signals seven others in each; trees of eight branches") \
    X(FIRST, "first", "all members signal the first member, which then signals all of them")             \
    X(LEADERS, "leaders", "members and their leader, one a host, then leaders, then leader and members") \
    X(WORDS, "words", "each shows a word in its memory and reads those of the others, in one or more steps") \
    X(DOUBLING, "doubling", "as leaders, who pass on twice as much in each of log2(hosts) rounds")       \
    X(GRID, "grid", "members in rows and columns: along my row, a sync, then along my column")           \
    X(LL, "ll", "data beside its flag in memory of the team, from which receivers copy it")        \
    X(PUSH, "push", "senders write into the dest of the receivers, then set a flag there")               \
    X(PULL, "pull", "after a flag or a sync the receivers read the source, and confirm")                 \
    X(SLICES, "slices", "each member combines one slice of all sources and writes it to all")            \
    X(RAILS, "rails", "members of the same place on each host exchange, for their hosts, what others need") \
    X(SHORT, "short", "the source may be reused as soon as the message has been issued")                 \
    X(COUNTED, "counted", "the call ends once the message has left its source")                          \
    X(CACHED, "cached", "memcpy")                                                                        \
    X(STRING, "string", "string copy: whole lines are not fetched before they are written")              \
    X(STREAMED, "streamed", "stores past the caches")                                                    \
    X(RELAY, "relay", "each other member reads a slice of the root's array, writes it to the rest")      \
    X(HALVES, "halves", "the root writes one half, the other member reads the other half")               \
    X(WHOLE, "whole", "every member gets all sources and combines them itself")                          \
    X(SLICED, "sliced", "slices whose sources go by LL lines to the member that combines them")             \
    X(REFUSED, "refused", "a member of the team has failed")                                             \
    X(BLOCK, "block", "a kernel of one block")                                                           \
    X(FINE, "fine", "several blocks, a thread for each 8 bytes")                                         \
    X(TILES, "tiles", "a block for each large part")
/* clang-format on */

#define WSH_ALGO_NAME(NAME, WORD, MEANING) WSH_ALGO_##NAME,
enum wsh_algo { WSH_ALGO_LIST(WSH_ALGO_NAME) WSH_ALGOS };
#undef WSH_ALGO_NAME

/* Further conditions of a row; if a call does not meet them, the next row that fits is taken. */
enum wsh_need {
    WSH_NEED_HOST = 1 << 0,      /* dest and source are host memory */
    WSH_NEED_HOST_DEST = 1 << 1, /* dest is */
    WSH_NEED_MAPPED = 1 << 2,  /* the source of each member of my domain can be loaded here, dest be stored */
    WSH_NEED_EVEN = 1 << 3,    /* all hosts have as many members */
    WSH_NEED_POWER = 1 << 4,   /* the number of members is a power of two */
    WSH_NEED_ROWS = 1 << 5,    /* the members of each host follow each other in the team */
    WSH_NEED_HOSTS_4 = 1 << 6, /* there are so many hosts, or more */
    WSH_NEED_HOSTS_256 = 1 << 7,
    WSH_NEED_GRID = 1 << 8,      /* WSH_GRID_HOSTS or more, and wsh_choice_across is not 0 */
    WSH_NEED_LOCALS_8 = 1 << 9,  /* hosts have so many members, or more */
    WSH_NEED_CORES = 1 << 10,    /* each PE has a core */
    WSH_NEED_NIC_HALF = 1 << 11, /* a host has a NIC for every two of its members, or more */
    WSH_NEED_NIC_8 = 1 << 12,    /* it has one for every eight members, or fewer */
    WSH_NEED_RAILS = 1 << 13,    /* 4 hosts or more, or a core for each PE */
    WSH_NEED_QUEUES = 1 << 14,   /* a core for each PE, and messages by a NIC's queues, not by sockets */
    WSH_NEEDS_OF_CALL =
        WSH_NEED_HOST | WSH_NEED_HOST_DEST | WSH_NEED_MAPPED /* the team meets the others, or never */
};

#define WSH_GRID_HOSTS 128 /* sim/runs/thresholds.txt */

/*
 * Members per row so that rows and columns have about the same length: the largest divisor up to the square root; 0:
 * none is close.
 */
static inline int wsh_choice_across(int n_pes)
{
    int root = 1;

    while ((long)(root + 1) * (root + 1) <= n_pes)
        root++;
    for (int n = root; 2 * n >= root; n--)
        if (n_pes % n == 0)
            return n;
    return 0;
}

/* What a choice asks of a team: equal at all members. */
struct wsh_choice_team {
    int n_pes, n_domains;
    int nics; /* of a host; 0: unknown */
    bool even, rows, cores, by_sockets;
};

/* Of the members of a host, in the mean, and its NICs. */
static inline unsigned wsh_choice_met_locals(const struct wsh_choice_team *team)
{
    long n_pes = team->n_pes, nics = (long)team->nics * team->n_domains;

    return (n_pes >= 8L * team->n_domains ? WSH_NEED_LOCALS_8 : 0) |
           (nics && n_pes <= 2 * nics ? WSH_NEED_NIC_HALF : 0) |
           (nics && n_pes >= 8 * nics ? WSH_NEED_NIC_8 : 0);
}

/* The needs that a team meets, whatever the call. */
static inline unsigned wsh_choice_met(const struct wsh_choice_team *team)
{
    int n = team->n_pes, hosts = team->n_domains;

    return (team->even ? WSH_NEED_EVEN : 0) | (n & (n - 1) ? 0 : WSH_NEED_POWER) |
           (team->rows ? WSH_NEED_ROWS : 0) | (hosts >= 4 ? WSH_NEED_HOSTS_4 : 0) |
           (hosts >= 256 ? WSH_NEED_HOSTS_256 : 0) | (team->cores ? WSH_NEED_CORES : 0) |
           (hosts >= 4 || team->cores ? WSH_NEED_RAILS : 0) |
           (team->cores && !team->by_sockets ? WSH_NEED_QUEUES : 0) |
           (hosts >= WSH_GRID_HOSTS && wsh_choice_across(n) ? WSH_NEED_GRID : 0) |
           wsh_choice_met_locals(team);
}

struct wsh_choice {
    unsigned layouts; /* bits: 1 << enum wsh_layout */
    int pes_max;      /* the row applies to at most so many members */
    size_t len_max;   /* the row applies to at most so many bytes per member */
    enum wsh_algo algo;
    unsigned needs;  /* enum wsh_need */
    const char *why; /* the perftest that chose the numbers, or the reason */
};

/* The rows of each routine, in the order in which they are tried. In each layout that is asked for, one fits all. */
extern const struct wsh_choice *const wsh_choice_rows[WSH_COLL_ROUTINES];

static inline bool wsh_choice_fits(const struct wsh_choice *row, enum wsh_layout layout, int n_pes,
                                   size_t len)
{
    return row->layouts >> layout & 1 && n_pes <= row->pes_max && len <= row->len_max;
}

/* The first row that fits, whatever it needs. */
static inline const struct wsh_choice *wsh_choice_find(enum wsh_coll_routine routine, enum wsh_layout layout,
                                                       int n_pes, size_t len)
{
    const struct wsh_choice *row = wsh_choice_rows[routine];

    while (!wsh_choice_fits(row, layout, n_pes, len))
        row++;
    return row;
}

/* The next one. */
static inline const struct wsh_choice *wsh_choice_next(const struct wsh_choice *row, enum wsh_layout layout,
                                                       int n_pes, size_t len)
{
    do
        row++;
    while (!wsh_choice_fits(row, layout, n_pes, len));
    return row;
}

/* For people and tests: a routine's number of rows, and words. Texts go to `text` of `size` bytes, or are constants. */
int wsh_choice_count(enum wsh_coll_routine routine);
const char *wsh_choice_routine(enum wsh_coll_routine routine);
const char *wsh_choice_algo(enum wsh_algo algo);
const char *wsh_choice_algo_meaning(enum wsh_algo algo);
/* "one host", "several hosts, apart" …: the layouts of a row. */
const char *wsh_choice_layouts(unsigned layouts, char *text, size_t size);
const char *wsh_choice_layout(enum wsh_layout layout);
const char *wsh_choice_layout_meaning(enum wsh_layout layout);
/* "host memory, …"; empty where the row needs nothing. */
const char *wsh_choice_needs(unsigned needs, char *text, size_t size);
/* A row's len_max: bytes, or parts of the caches; "any". */
const char *wsh_choice_len(enum wsh_coll_routine routine, size_t len_max, char *text, size_t size);

#endif
