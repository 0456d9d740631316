/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of every message between PEs, and its check. Pure. */
#ifndef WSH_EFA_WIRE_H
#define WSH_EFA_WIRE_H

#include "transports/efa/srd/srd.h"

#include <stddef.h>
#include <stdint.h>

#define WSH_EFA_WIRE_VERSION 8
#define WSH_EFA_CONTEXTS 4096u /* of a PE at a time */
#define WSH_EFA_STRIDE_MAX \
    (UINT64_C(1) << 46) /* so that the strides of a message do not add up to an overflow */

/* Numbered messages belong to a flow of their source, and are applied by the order of the engine (srd.h). */
enum wsh_efa_wire {
    WSH_EFA_WIRE_HELLO = 1,   /* the sender has reached this PE; numbered */
    WSH_EFA_WIRE_PUT,         /* store data; numbered */
    WSH_EFA_WIRE_STRIDED,     /* store blocks some way apart, then update their signal, if any; numbered */
    WSH_EFA_WIRE_SIGNAL,      /* store data (0 bytes: none), then update a signal; numbered */
    WSH_EFA_WIRE_AMO,         /* atomic without result; numbered */
    WSH_EFA_WIRE_FETCH,       /* atomic whose old value a REPLY brings; numbered */
    WSH_EFA_WIRE_GET,         /* bytes that a REPLY brings; numbered */
    WSH_EFA_WIRE_ACK_REQUEST, /* wants acks: of so many counter writes, and of a context's messages; numbered */
    WSH_EFA_WIRE_REPLY,       /* what a FETCH or GET with the same cookie asked for */
    WSH_EFA_WIRE_ACK,         /* only the head's `applied` and `counted` */
    WSH_EFA_WIRE_COUNTED      /* how many counter writes of the receiver are counted */
};

/* Begins every message. Little-endian, as all of a job's hosts must be. */
struct wsh_efa_head {
    uint64_t
        tag; /* what the sender makes of the job's secret for this receiver: without it, nothing else counts */
    uint8_t version, type;
    uint16_t len; /* bytes of the whole message */
    uint32_t src; /* PE */
    uint16_t ctx; /* number of the context at src; REPLY and TELL: of the receiver's, which they answer */
    uint8_t lost; /* bits of src's rails that do not reach the receiver any more, while others do */
    uint8_t
        lazy; /* 1: need not be acknowledged before half of the window is due, or a later message that is not */
    struct wsh_srd_stamp stamp; /* of a REPLY or TELL: only applied and counted */
};

/* A place in a segment of the target. */
struct wsh_efa_target {
    uint64_t off;
    uint8_t seg;
    uint8_t op, width; /* of the atomic there; 0 for data */
    uint8_t zero[5];
};

struct wsh_efa_put_msg {
    struct wsh_efa_head head;
    struct wsh_efa_target data;
    char bytes[];
};

struct wsh_efa_strided_msg {
    struct wsh_efa_head head;
    struct wsh_efa_target data;   /* of the first block */
    struct wsh_efa_target signal; /* width 0: none */
    uint64_t value;               /* of the signal */
    uint64_t stride;              /* from the start of a block to that of the next */
    uint32_t block, zero;         /* bytes of each */
    char bytes[];                 /* whole blocks, one behind the other */
};

struct wsh_efa_signal_msg {
    struct wsh_efa_head head;
    struct wsh_efa_target data, signal;
    uint64_t value;
    char bytes[];
};

struct wsh_efa_amo_msg { /* AMO and FETCH */
    struct wsh_efa_head head;
    struct wsh_efa_target word;
    uint64_t operand, compare;
    uint32_t cookie, zero; /* FETCH: of the request */
};

struct wsh_efa_get_msg {
    struct wsh_efa_head head;
    struct wsh_efa_target data;
    uint32_t cookie, len;
};

struct wsh_efa_reply_msg {
    struct wsh_efa_head head;
    uint32_t cookie, zero;
    char bytes[]; /* of a FETCH: the old value in 8 */
};

struct wsh_efa_count_msg { /* ACK_REQUEST and COUNTED */
    struct wsh_efa_head head;
    uint32_t counter_writes;
    uint32_t end; /* ACK_REQUEST: an ack of all messages before this one is wanted too */
    uint16_t ctx; /* the context of the sender's that `end` is of */
    uint16_t zero[3];
};

union wsh_efa_msg {
    struct wsh_efa_head head;
    struct wsh_efa_put_msg put;
    struct wsh_efa_strided_msg strided;
    struct wsh_efa_signal_msg signal;
    struct wsh_efa_amo_msg amo;
    struct wsh_efa_get_msg get;
    struct wsh_efa_reply_msg reply;
    struct wsh_efa_count_msg count;
};

/* Fills the head of a message of `len` bytes, its stamp and tag with zeros. */
void wsh_efa_wire_head(struct wsh_efa_head *head, enum wsh_efa_wire type, size_t len, int src, uint32_t ctx);

/* The PE that `len` bytes say they are from, whose tag they must carry to be believed; -1: none of n_pes. */
static inline int wsh_efa_wire_src(const union wsh_efa_msg *msg, size_t len, int n_pes)
{
    return len >= sizeof msg->head && msg->head.src < (uint32_t)n_pes ? (int)msg->head.src : -1;
}

/*
 * NULL if the `len` bytes, which have a source, are a message of this version whose every field but the places' offsets
 * and segments is in range; else what is wrong with it.
 */
const char *wsh_efa_wire_check(const union wsh_efa_msg *msg, size_t len);

/* Address of `len` bytes at the place in segments given by base and size, or NULL if outside. */
void *wsh_efa_wire_resolve(const struct wsh_efa_target *target, size_t len, char *const *base,
                           const size_t *size);

#endif
