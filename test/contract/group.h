/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A few PEs over one transport: as processes, or as threads where the transport lives in one process. The memory of
 * all PEs is visible to all of them behind the transport's back, so that a test can see what has really arrived.
 */
#ifndef WSH_TEST_GROUP_H
#define WSH_TEST_GROUP_H

#include "transports/transport.h"

#include <stdbool.h>

enum { GROUP_MAX = 4, GROUP_HEAP = 24 << 20, GROUP_DATA = 64 << 10 };

/* One way to run the suite; each program of the suite defines `group_path`. */
struct group_path {
    const char *name;             /* of the program, for messages */
    const char *transport;        /* name in the registry, or of `ops` */
    const struct wsh_tp_ops *ops; /* NULL: the registry's */
    const char *provider;         /* SHMEM_LIBFABRIC_PROVIDER, or NULL */
    int nics;                     /* of each PE, where the device is emulated (emulated.c) */
    bool in_process;              /* PEs are threads */
    bool dies_loudly;             /* an operation to a killed peer ends in an error */
    int gpu;               /* enum group_gpu: the heaps are device memory, and there is no static segment */
    void (*before)(int n); /* called before the PEs start, or NULL */
    /* Spoils the next message that this PE sends, or NULL. */
    void (*corrupt)(size_t offset, unsigned char bits);
    /* The next write fails so many times, then succeeds; `event`: there is an error of no operation. Or NULL. */
    void (*fail)(int times, bool event);
    /* The keys that memory was registered with, of which the first was refused as taken; how many. Or NULL. */
    int (*keys)(const uint64_t **keys);
};

extern const struct group_path group_path;

struct group; /* shared by all PEs of a run */

struct group_pe {
    struct group *group;
    int me, n;
    struct wsh_env env;
    const struct wsh_tp_ops *ops;
    struct wsh_tp *tp;
    struct wsh_tp_limits limits;
    struct wsh_tctx *ctx;
    struct wsh_lmem *lmem[WSH_SEGS];
    struct wsh_rmem rmem[GROUP_MAX][WSH_SEGS];
    char *heap[GROUP_MAX]; /* [pe] what is in the memory of that PE; heap[me] is registered */
    char *data[GROUP_MAX]; /* the same for the static segment */
    unsigned absent;       /* bits of PEs that this one leaves out of its connect */
};

/* Runs `body` on n PEs that have (unless `raw`) opened the transport and connected; fails the test on any fault. */
void group_run(int n, void (*body)(struct group_pe *pe));
void group_run_raw(int n, void (*body)(struct group_pe *pe));

/* The steps of connecting, for bodies that do it themselves: 0 or the transport's error. */
int group_open(struct group_pe *pe);
int group_connect(struct group_pe *pe);
/* Both, with their faults recorded; not 0: the run is over for this PE. */
int group_open_and_connect(struct group_pe *pe);
void group_close(struct group_pe *pe);
/* The blobs of `pe` as published in group_connect. */
void *group_address(struct group_pe *pe, int of, size_t *len);
void *group_mem(struct group_pe *pe, int of, enum wsh_seg seg, size_t *len);

/* Records a fault of this PE (the first one counts). Returns ok. */
bool group_check_at(struct group_pe *pe, bool ok, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#define group_check(pe, cond, ...) group_check_at(pe, cond, __LINE__, __VA_ARGS__)
bool group_failed(const struct group_pe *pe);

/* All PEs meet; the first serves peers meanwhile, the second stands still. */
void group_barrier(struct group_pe *pe);
void group_barrier_still(struct group_pe *pe);
/* A number that one PE gives the others behind the transport's back; group_await serves peers until it is >= value. */
void group_set_slot(struct group_pe *pe, int slot, long value);
long group_slot(struct group_pe *pe, int slot);
void group_await(struct group_pe *pe, int slot, long value);
void group_await_still(struct group_pe *pe, int slot, long value);

/* Moves on; false (and a fault) after a final error or too long. Call in loops; `start` from group_now. */
double group_now(void);
bool group_spin(struct group_pe *pe, double start);

/* Operations on the heap of PE `to` that wait for room, and for `done` where the name says so. */
void group_put(struct group_pe *pe, int to, size_t off, const void *src, size_t len);
void group_put_done(struct group_pe *pe, int to, size_t off, const void *src, size_t len);
void group_get(struct group_pe *pe, int to, size_t off, void *dst, size_t len);
void group_get_done(struct group_pe *pe, int to, size_t off, void *dst, size_t len);
void group_amo(struct group_pe *pe, int to, size_t off, enum wsh_amo_op op, unsigned width, uint64_t operand);
uint64_t group_fetch(struct group_pe *pe, int to, size_t off, enum wsh_amo_op op, unsigned width,
                     uint64_t operand, uint64_t compare);
void group_put_signal(struct group_pe *pe, int to, size_t off, const void *src, size_t len, size_t sig_off,
                      enum wsh_amo_op op, uint64_t value);
void group_fence(struct group_pe *pe);
void group_quiet(struct group_pe *pe);
/* Until sources may be written again, and gets are here. */
void group_flush(struct group_pe *pe);

/* A byte pattern by seed and position; bytes of buf that differ from it. */
void group_fill(void *buf, size_t len, unsigned seed);
size_t group_wrong(const void *buf, size_t len, unsigned seed);

/* Lines this PE's library printed since the start of the run, in one string; only if asked for before. */
void group_hush(struct group_pe *pe);
const char *group_heard(struct group_pe *pe);

static inline uint64_t group_load(const void *addr)
{
    return __atomic_load_n((const uint64_t *)addr,
                           __ATOMIC_ACQUIRE); /* partner: the transport's store of a word */
}

#endif
