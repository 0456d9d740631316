/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a trace that one PE writes: a file FILE.pe<N> that the PE maps, so that what it has noted is there
 * however the PE ends. A head, then a ring of events.
 */
#ifndef WSH_TRACE_FORMAT_H
#define WSH_TRACE_FORMAT_H

#include <stdint.h>

#define WSH_TRACE_MAGIC "wshtrace"
#define WSH_TRACE_HEAD 4096 /* bytes */

enum wsh_trace_kind {
    WSH_TRACE_A_CALL,
    WSH_TRACE_SET,
    WSH_TRACE_ADD,
    WSH_TRACE_WAITED,
    WSH_TRACE_SPAN, /* of the library's own: start and ticks are ns of CLOCK_MONOTONIC, routine the number of its
                           name, ctx of its line */
    WSH_TRACE_OVERLAPS, /* the same, beside others of its line */
};
#define WSH_TRACE_NAMES 48
#define WSH_TRACE_LINES 16
#define WSH_TRACE_NAME 40
enum wsh_trace_path { WSH_TRACE_NO_PATH, WSH_TRACE_LOCAL, WSH_TRACE_NETWORK };

/* A signal that was sent or waited for follows its call in the ring, with its thread and start: see below. */
struct wsh_trace_event {
    uint64_t start; /* in ticks */
    uint64_t ticks : 48, routine : 16;
    uint64_t bytes : 48, ctx : 16;
    int32_t pe; /* -1: none */
    uint8_t path, kind;
    uint16_t thread;
};

/* The same 32 bytes of signals. */
struct wsh_trace_signal {
    uint64_t start;
    uint64_t off : 48, routine : 16; /* from the same place in the memory of every PE */
    uint64_t value;
    int32_t pe; /* that it was sent to; -1: this one has waited */
    uint8_t is_static, kind;
    uint16_t thread;
};

union wsh_trace_record {
    struct wsh_trace_event call;
    struct wsh_trace_signal signal;
};

/* Two readings at the same time; the second pair of a part is the latest. */
struct wsh_trace_moment {
    uint64_t ticks, ns;
};

/* By how much the clock of PE 0's host is ahead of this host's, in ns, and the half of the round trip that said so. */
struct wsh_trace_ahead {
    int64_t ns, error; /* error -1: not known */
    uint64_t at;       /* ns of this host's clock */
};

struct wsh_trace_head {
    char magic[8], version[32], host[64];
    int32_t pe, n_pes, pid,
        leader;        /* leader: the first PE of the host, whose clock was compared with PE 0's */
    uint64_t capacity; /* events */
    uint64_t n;        /* that have been noted so far; more than capacity: the oldest are gone */
    struct wsh_trace_moment first, last;
    struct wsh_trace_ahead ahead[2]; /* at the start and at the end of the job */
    char name[WSH_TRACE_NAMES][WSH_TRACE_NAME],
        line[WSH_TRACE_LINES][WSH_TRACE_NAME]; /* of spans; "": none more */
};

#endif
