/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the performance tests of expert parallelism in host memory and on GPUs share: options, cases, figures, report.
 * A case is an instance (mode, dtype, experts, tokens); its rows are dispatch, combine, both and overlap.
 */
#ifndef PERFTEST_EP_MOE_H
#define PERFTEST_EP_MOE_H

#include "test/ep/reference/reference.h"
#include "perftest/common/report.h"

#include <shmemx_ep.h>

#ifdef __cplusplus
extern "C" {
#endif

enum moe_phase { MOE_DECODE, MOE_PREFILL, MOE_PHASES };
enum moe_what { MOE_DISPATCH, MOE_COMBINE, MOE_BOTH, MOE_OVERLAP, MOE_WHATS };
enum moe_half { MOE_DISPATCH_SEND, MOE_DISPATCH_RECEIVE, MOE_COMBINE_SEND, MOE_COMBINE_RECEIVE, MOE_HALVES };
enum { MOE_CASES = 256, MOE_SAMPLES_MAX = 10000, MOE_MARKS = 8, MOE_CHUNK = 8 };
enum { MOE_KNOWN, MOE_LATE };
enum { MOE_UNIFORM, MOE_ZIPF, MOE_HOT, MOE_ALONE };

extern const char *const moe_phase_names[MOE_PHASES], *const moe_what_names[MOE_WHATS];

struct moe_options {
    struct perf_options perf; /* samples: iterations; batch: calls of one, 1 */
    struct perf_numbers tokens, experts;
    long hidden, topk, route, routing;
    long blocks, part, capacity; /* 0: chosen */
    long expanded;               /* of prefill: alignment of experts' rows; 0: rows lie by source */
    long compute;                /* us of the kernel between halves */
    long late;                   /* us that the last PE comes later in each iteration */
    long weights;                /* of decode: MOE_KNOWN in dispatch, or MOE_LATE with combine */
    long pes;                    /* of --list and --memory */
    long nics;                   /* of a PE, for the least of --count */
    bool best, check, count, in_place, coded, exact, graph, list, masks, memory, published;
};

struct moe_case {
    enum moe_phase phase;
    int dtype; /* SHMEMX_EP_BF16 or another type of rows */
    int experts, tokens;
    unsigned whats; /* bits: rows that were asked for */
};

/* Where rows lie, and how calls on them are timed. Every PE calls each function. */
struct moe_backend {
    const char *name, *what; /* of the program */
    bool device;
    size_t window;         /* bytes that copies go around in: a power of two, 4096 or more */
    const char *transport; /* inside a host */
    int (*probe)(void);    /* before shmem_init: 0, or the status with which the program ends, after a line */
    int (*open)(void);     /* after it: 0, or -1 after a line */
    void (*close)(void);
    int (*blocks)(int pes); /* SMs of a PE, where so many share the machine; called before all below */
    void *(*take)(size_t bytes);
    void (*release)(void *memory);
    void *(*take_symmetric)(size_t bytes);
    void (*release_symmetric)(void *memory);
    void (*write)(void *to, const void *from, size_t bytes); /* from the host's memory */
    void (*read)(void *to, const void *from, size_t bytes);  /* to it */
    void (*fill)(void *to, int byte, size_t bytes);
    void *(*stream)(void);
    /* In the order of calls; on a GPU by its stream, until `finish` returns. */
    void (*begin)(void);   /* calls up to `finish` follow each other without the host */
    void (*barrier)(void); /* all PEs */
    void (*mark)(int i);   /* 0 to MOE_CHUNK * MOE_MARKS - 1 */
    void (*copy)(void *to, const void *from, size_t bytes, size_t window, int blocks);
    void (*compute)(long rounds); /* by this PE's share of the SMs */
    void (*wait)(long us);        /* this PE alone, doing nothing */
    /* Calls from `capture` to `captured` become a graph, which replay puts in their place. NULL: there are none. */
    void (*capture)(void);
    void (*captured)(void);
    void (*replay)(void);
    void (*release_graph)(void);
    void (*finish)(void);
    double (*between)(int first, int second); /* us between marks, after `finish` */
};

/* Rows and bytes of this PE in a call, as the routing makes them. */
struct moe_load {
    double choices;              /* (token, expert) pairs of its tokens */
    double received;             /* rows that it receives in a dispatch */
    double back;                 /* rows that come back to it in a combine */
    double hosts;                /* distinct (token, host) pairs of its tokens, its own host included */
    double network;              /* rows that a dispatch has to send to other hosts by the route */
    double dispatched, combined; /* bytes of `received` and of `back` */
};

/* Between this PE and the one `step` after it on its host, around its end; 0 is this PE itself. */
struct moe_link {
    double rows; /* that come from there in a dispatch: one for each token that chose an expert here */
    double back; /* that come back from there in a combine */
};

/* A case while it runs. */
struct moe_run {
    const struct moe_options *options;
    const struct moe_backend *backend;
    const struct moe_case *now;
    struct ref_job job;
    shmemx_ep_config_t config;
    shmemx_ep_bytes_t bytes;
    shmemx_ep_t ep;
    enum ref_mode mode;
    enum ref_route route;
    int me, npes, near, machine; /* PEs: all, of each host, of this machine */
    int sms;                     /* that this PE has */
    int parts;                   /* that received rows are packed by */
    long rows;                   /* of `rows` */
    size_t row_bytes;            /* of a dispatched row with its scales */
    int blocks;                  /* SMs of a call in place of the options'; 0: theirs */
    struct moe_load load;
    struct moe_link *links; /* [near] */
    void *x, *y;            /* of the call; x_own, y_own: where they are not in place */
    void *x_own, *y_own, *rows_at, *out;
    uint16_t *x_host; /* in place: the rows, for the buffers that come in turn; or NULL */
    int x_given;
    float *weights, *row_scales, *row_weights;
    float *x_scales;                /* --coded: x is e4m3 */
    shmemx_ep_rows_expanded_t wide; /* --expanded: where rows lie; rows NULL: elsewhere */
    int32_t *topk, *row_topk, *counts;
    char *source, *dest; /* of copies: symmetric, and this PE's own */
    double *figures;     /* symmetric: MOE_SAMPLES_MAX + 1 to give, as many to get */
};

/* A row of the report; figures of PEs are means, but for time. */
struct moe_row {
    const struct moe_run *run;
    enum moe_what what;
    struct perf_stats us;       /* a call of the slowest PE */
    double bytes;               /* of rows received, or come back */
    double scale_up, scale_out; /* GB/s */
    double limit_us;            /* of the links: a copy of what crosses them; NAN: none */
    double link_rows, link_bytes;
    double rows, near, network,
        least; /* rows: received; sent to near PEs; sent over the network; the fewest possible */
    double puts, operations, network_bytes; /* puts: to each far peer */
    double messages, doorbells;             /* --count: given to NICs by the CPU and by kernels */
    long least_messages;                    /* of these */
    double compute_us, loss;                /* overlap: of the kernel alone; in % */
    double half_us[MOE_HALVES];
};

/* --- options.c --- */
/* -1, or the status with which the program ends at once: after the help, or a line. */
int moe_options_parse(struct moe_options *o, const struct moe_backend *backend, int argc, char **argv);
/* The cases that were asked for, of `pes` PEs (0: any number). Their number. */
int moe_cases(struct moe_case *cases, const struct moe_options *o, int pes);
/* MODE.DTYPE.EXPERTS.TOKENS.WHAT, as in decode.fp8.256.128.both. Returns id. */
const char *moe_id(char id[96], const struct moe_case *now, enum moe_what what);
const char *moe_dtype_name(int dtype);
/* --capacity of a case; of an expert no more than can come. */
long moe_capacity(const struct moe_options *o, const struct moe_case *now, int pes);
/* The configuration of a case. */
shmemx_ep_config_t moe_config(const struct moe_options *o, const struct moe_case *now, int pes, bool device,
                              int blocks);
/* --memory: a table of shmemx_ep_bytes on stdout. The program's exit status. */
int moe_memory(const struct moe_options *o, bool device);

/* --- load.c --- */
/* run->load; and run->links, which moe_close frees. */
void moe_load_count(struct moe_run *run);
bool moe_one_copy(const struct moe_run *run); /* whether rows cross to each host once */

/* --- buffers.c --- */
/* What all cases share: the memory of copies and figures. 0, or -1 after a line. */
int moe_begin(struct moe_run *run);
void moe_end(struct moe_run *run);
/* The instance of run->now and its memory, filled. 0, or -1 after a line, on all PEs. */
int moe_open(struct moe_run *run);
void moe_close(struct moe_run *run);
/* Sum and largest of all PEs' figure, on all PEs. */
double moe_sum(struct moe_run *run, double figure);
/* PEs of other hosts that a PE puts rows to, and whether it puts weights too. */
int moe_far_peers(const struct moe_run *run);
bool moe_puts_weights(const struct moe_run *run, enum moe_what what);
double moe_max(struct moe_run *run, double figure);
/* Of the rows that this PE sends, as they are given. */
size_t moe_x_bytes(const struct moe_run *run);

/* --- calls.c --- */
int moe_dispatch(struct moe_run *run, int halves);
int moe_combine(struct moe_run *run, int halves);

/* --- limit.c --- */
/* What a dispatch, a combine or both send to this PE over the links of its host. */
double moe_link_rows(const struct moe_run *run, enum moe_what what);
double moe_link_bytes(const struct moe_run *run, enum moe_what what);
/* us of a copy of that by all PEs at once; NAN between hosts, and where nothing is sent. */
double moe_limit(struct moe_run *run, enum moe_what what);

/* --- check.c --- */
/* A dispatch and a combine: values of this PE that are wrong; without `rows` the counts alone are looked at. */
long moe_check(struct moe_run *run, bool rows);

/* --- measure.c --- */
/* Of each of `n` figures the largest of all PEs, in its place; then their order. */
void moe_largest(struct moe_run *run, double *us, long n);
void moe_slowest(struct moe_run *run, double *us, long n, struct perf_stats *stats);
/* us of a dispatch and a combine, from few iterations: --best compares instances by it. */
double moe_glance(struct moe_run *run);
void moe_measure(struct moe_run *run, enum moe_what what, struct moe_row *row);
/* --count: what a call gives to the network, and the least of the routing. */
void moe_count(struct moe_run *run, enum moe_what what, struct moe_row *row);

/* --- report.c --- */
int moe_report_open(struct perf_report *report, const struct moe_run *run, const char *hosts);
void moe_report_row(struct perf_report *report, const struct moe_row *row, long samples, bool right);
/* --count: a line of a row that moe_count has filled, or what its columns are. */
void moe_count_print(FILE *to, const struct moe_row *row);
void moe_count_head(FILE *to);
void moe_published_print(FILE *to);

/* --- main.c --- */
/* The program. Its exit status. */
int moe_main(const struct moe_backend *backend, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
