/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of p2p: what each kind of row measures, and the list of rows that a command line asks for. */
#ifndef PERFTEST_DEVICE_ROWS_H
#define PERFTEST_DEVICE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

enum p2p_scope { P2P_THREAD, P2P_WARP, P2P_BLOCK, P2P_SCOPES };

/* One kernel each; what it does stands in p2p_kinds. */
enum p2p_kind {
    P2P_PUT,
    P2P_PUT_SAME,
    P2P_GET,
    P2P_P,
    P2P_G,
    P2P_FETCH_INC,
    P2P_COMPARE_SWAP,
    P2P_SWAP,
    P2P_INC,
    P2P_PUT_BULK,
    P2P_GET_BULK,
    P2P_PUT_BW,
    P2P_PUT_SAME_BW,
    P2P_GET_BW,
    P2P_PUT_BIBW,
    P2P_GET_BIBW,
    P2P_PUT_BULK_BW,
    P2P_GET_BULK_BW,
    P2P_STORE_BW,
    P2P_PUT_RATE,
    P2P_P_RATE,
    P2P_INC_RATE,
    P2P_PP_SIGNAL,
    P2P_PP_PUT_SIGNAL,
    P2P_PP_P,
    P2P_PP_PUT,
    P2P_PP_PUT_FENCE_P,
    P2P_PP_ATOMIC,
    P2P_PP_PUT_ATOMIC,
    P2P_PUT_MISALIGNED,
    P2P_GET_MISALIGNED,
    P2P_PUT_BW_MISALIGNED,
    P2P_GET_BW_MISALIGNED,
    P2P_PUT_LOADED,
    P2P_KINDS
};

/* A row's figure: us an iteration; 10^9 bytes, or 10^6 messages, a second. */
enum p2p_unit { P2P_US, P2P_GBS, P2P_MRATE };

/* Whose memory holds a copy of the other's source afterwards. */
enum p2p_data { P2P_NO_DATA, P2P_AT_TARGET, P2P_AT_ORIGIN };

/* Flags of a kind. */
enum {
    P2P_BOTH = 1,        /* the kernel runs on both PEs */
    P2P_SLOWEST = 2,     /* the later of the two counts, and the bytes of both */
    P2P_FIXED = 4,       /* the size is part of the row: -b and -e do not change it */
    P2P_EXTENSION = 8,   /* of warpshmem alone: the kernel is lent shared memory */
    P2P_SAME = 16,       /* the same source in every iteration, which an L1 may hold */
    P2P_READS_PEER = 32, /* without data to check */
};

struct p2p_kind_info {
    const char *name;
    enum p2p_unit unit;
    enum p2p_data data;
    unsigned flags;
    int skew; /* bytes by which the source lies further than the target */
    const char *what;
};
extern const struct p2p_kind_info p2p_kinds[P2P_KINDS];
extern const char *const p2p_scope_names[P2P_SCOPES];

struct p2p_row {
    enum p2p_kind kind;
    enum p2p_scope scope;
    size_t size; /* bytes an iteration moves over all blocks; of rates: of one message */
    int blocks, threads;
};

struct p2p_options {
    size_t begin, end; /* sizes between them by `factor` instead of each row's own; 0: not given */
    double factor;
    long iterations; /* of a kernel; 0: enough for some milliseconds */
    long warmup, samples;
    int blocks, threads; /* 0: each row's own */
    int scope;           /* P2P_SCOPES: all */
    const char *rows;    /* patterns, comma separated, of names or whole ids; NULL: all */
    const char *json, *csv;
    bool table, list, help;
};

enum { P2P_ERROR_TEXT = 200, P2P_ID_TEXT = 96, P2P_SAMPLES_MAX = 100, P2P_MAX_ROWS = 2048 };

/* Fills `o` from the command line: 0, or -1 and one line in `error` (P2P_ERROR_TEXT bytes). */
int p2p_options_parse(struct p2p_options *o, int argc, char **argv, char *error);
void p2p_options_help(void);

/* 8, 64k, 1M, 2G in bytes; 0: it is none. */
size_t p2p_size_parse(const char *text);

/* Writes the rows asked for to `rows` (room for P2P_MAX_ROWS) and returns their number. */
int p2p_rows_expand(struct p2p_row *rows, const struct p2p_options *o);

/* NAME.SCOPE.SIZE.BLOCKSxTHREADS into `id` (P2P_ID_TEXT bytes); returns it. */
const char *p2p_row_id(char *id, const struct p2p_row *row);

/* Threads, warps or blocks that work side by side in the row's grid. */
long p2p_row_lanes(const struct p2p_row *row);

#endif
