/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the layout of every message between PEs, and tells a good message from a bad one. Pure. */
#ifndef WSH_EFA_WIRE_H
#define WSH_EFA_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define EFA_WIRE_VERSION 1

enum wsh_efa_wire {
    EFA_WIRE_HELLO = 1, /* the sender has reached this PE; numbered */
    EFA_WIRE_PUT,       /* store data; numbered */
    EFA_WIRE_SIGNAL,    /* store data (0 bytes: none), then update a signal; numbered */
    EFA_WIRE_AMO,       /* atomic without result; numbered */
    EFA_WIRE_FETCH,     /* atomic whose old value a REPLY brings; numbered */
    EFA_WIRE_REPLY,     /* `seq` is the number of the FETCH it answers */
    EFA_WIRE_ACK        /* only the head's `ack` */
};

/* Begins every message. Little-endian, as all of a job's hosts must be. */
struct wsh_efa_head {
    uint8_t version, type;
    uint16_t len; /* bytes of the whole message */
    uint32_t src; /* PE */
    uint32_t seq; /* number among the messages from src to this PE, from 0, modulo 2^32 */
    uint32_t ack; /* src has applied so many of this PE's messages, modulo 2^32 */
};

/* A place in a segment of the target. */
struct wsh_efa_place {
    uint64_t off;
    uint8_t seg;
    uint8_t op, width; /* of the atomic there; 0 for data */
    uint8_t zero[5];
};

struct wsh_efa_put_msg {
    struct wsh_efa_head head;
    struct wsh_efa_place data;
    char bytes[];
};

struct wsh_efa_signal_msg {
    struct wsh_efa_head head;
    struct wsh_efa_place data, signal;
    uint64_t value;
    char bytes[];
};

struct wsh_efa_amo_msg { /* AMO and FETCH */
    struct wsh_efa_head head;
    struct wsh_efa_place word;
    uint64_t operand, compare;
};

struct wsh_efa_reply_msg {
    struct wsh_efa_head head;
    uint64_t value;
};

union wsh_efa_msg {
    struct wsh_efa_head head;
    struct wsh_efa_put_msg put;
    struct wsh_efa_signal_msg signal;
    struct wsh_efa_amo_msg amo;
    struct wsh_efa_reply_msg reply;
};

/* Fills the head of a message of `len` bytes. */
void wsh_efa_wire_head(struct wsh_efa_head *head, enum wsh_efa_wire type, size_t len, int src, uint32_t seq,
                       uint32_t ack);

/*
 * NULL if the `len` bytes are a message of this version from one of n_pes PEs, whose every field but the places'
 * offsets and segments is in range; else what is wrong with it.
 */
const char *wsh_efa_wire_check(const union wsh_efa_msg *msg, size_t len, int n_pes);

/* Address of `len` bytes at the place in segments given by base and size, or NULL if outside. */
void *wsh_efa_wire_resolve(const struct wsh_efa_place *place, size_t len, char *const *base,
                           const size_t *size);

#endif
