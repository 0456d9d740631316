/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a team's sync area: symmetric memory for flags and small data. */
#ifndef WSH_COLL_SYNC_AREA_H
#define WSH_COLL_SYNC_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WSH_SYNC_AREA_LINE 64
#define WSH_SYNC_AREA_APART \
    128 /* processors fetch lines in pairs: of words that change at different times one would bring the other */
#define WSH_LL_DATA 512 /* bytes that an LL line carries beside its flag */
#define WSH_LL_LEN (WSH_SYNC_AREA_LINE + WSH_LL_DATA)
#define WSH_ROUND_DATA \
    1024 /* the same for an LL line that comes by a network; fits a message with its signal */
#define WSH_ROUND_LEN (WSH_SYNC_AREA_LINE + WSH_ROUND_DATA)
#define WSH_LINES_MAX 10                       /* most lines, with a flag each, of an exchange of blocks */
#define WSH_LINE_DATA (WSH_SYNC_AREA_LINE - 8) /* bytes of data in such a line */
#define WSH_SLOT_COUNT 64
#define WSH_REQ_IN_FLIGHT 8 /* nonblocking collectives of a team that run at a time; more are queued */
#define WSH_REQ_SLOTS 18    /* request/queue.c says how many it takes */
#define WSH_REQ_COUNTERS 8  /* of a slot */
#define WSH_REQ_WORDS_MAX \
    16                  /* members up to which each has words of its own in place of two of the counters */
#define WSH_REQ_CELL 16 /* bytes of that of data, with a short block before it */
#define WSH_REQ_LINE_DATA (WSH_SYNC_AREA_LINE - 16)
#define WSH_LL_ALIGN 16 /* of the data: no number needs more */
#define WSH_SLOT_DATA (WSH_SYNC_AREA_LINE - WSH_LL_ALIGN)

/* A flag and the data that it announces. */
struct wsh_ll_line {
    uint64_t flag;
    _Alignas(WSH_LL_ALIGN) char data[]; /* in a slot both are one cache line */
};

/*
 * Offsets in the sync area. Each flag has exactly one writer; "[2]" marks parts that are used alternately, by the
 * parity of the collective's epoch. A member is at most one epoch ahead of another, since each epoch needs something of
 * every member: so no word is overwritten before it was read, even if the network reorders signals.
 */
struct wsh_sync_area {
    size_t sync; /* [2][sync_words]: sync; by member, then by message of dissemination */
    size_t
        shown; /* [2][n_shown] words of WSH_SYNC_AREA_APART bytes each: what this member shows in each step of a sync */
    size_t blocks; /* [2][n_pes]: member i's block has arrived */
    size_t ack;    /* the number of the slot that announced what this member has read last */
    size_t core;   /* beside ack: 1 + the processor on which this member last waited; 0: none yet. cores.h */
    size_t sizes;  /* [2][n_pes]: what member i contributes to a collect */
    size_t slots; /* [WSH_SLOT_COUNT] of a line each: one writer for each number in turn, here or elsewhere */
    size_t
        own; /* [2] LL lines that this member writes and members in the same memory read; if there may be any */
    size_t lines;    /* [2][n_lines] the same for lines of an exchange */
    size_t result;   /* [2] LL lines, the same for the result of the leader of a memory domain */
    size_t rounds;   /* [2][n_rounds] LL lines of WSH_ROUND_LEN, written by the leaders of other domains */
    size_t requests; /* [WSH_REQ_SLOTS] of request_len each: lines of nonblocking collectives, by number */
    size_t cells; /* [n_pes] of request_cells each: [WSH_REQ_SLOTS] cells, [WSH_REQ_SLOTS] words of syncs, by
                        number; in large teams counters */
    size_t
        exchange; /* [2] of exchange_len each: of an alltoallv, what each member has for this one: [n_pes] words of
                        lengths, [n_pes] of offsets, [n_pes] eager buffers of exchange_eager bytes */
    size_t request_len, request_cells, exchange_len, exchange_eager;
    size_t exchange_near; /* bytes of the longest block that takes an eager buffer in the same memory */
    int sync_words, n_shown, n_lines, n_rounds;
    size_t len;
};

/* The sync area of a team of n_pes members in at most n_domains memory domains; `apart`: in exactly so many. */
struct wsh_sync_area wsh_sync_area_layout(int n_pes, int n_domains, bool apart);

/*
 * More room for blocks of an alltoallv, of a team whose sync area is not of the pool. `far`: some members reach each
 * other by a network alone; only for the team of all PEs.
 */
void wsh_sync_area_widen(struct wsh_sync_area *area, int n_pes, bool far);

/* Rounds of dissemination among n. */
int wsh_sync_area_rounds(int n);

/*
 * Members that one signals directly, and itself, where dissemination goes to several in each round. sim --run barrier
 * --pes 8192 --per-host 8: 37 us; by 2, 4, 16: 76, 43, 36, with ever more messages.
 */
#define WSH_SYNC_AREA_FAN 8

struct wsh_job;

/* The same, of a team of so many PEs of this job. */
struct wsh_sync_area wsh_sync_area_of_job(const struct wsh_job *job, int n_pes);

#endif
