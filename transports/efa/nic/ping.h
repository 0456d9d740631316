/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages, writes and reads between one NIC of this host and one of another, without a job: for warpshmem-info --ping.
 * Who calls waits: nothing here does.
 */
#ifndef WSH_EFA_PING_H
#define WSH_EFA_PING_H

#include "base/env/env.h"

#include <stddef.h>
#include <stdint.h>

#define WSH_PING_BYTES ((size_t)1 << 20) /* of a write or read, at most; the memory begins with the peer's */
#define WSH_PING_ADDRESS 256             /* bytes of an address, at most */
#define WSH_PING_DEPTH 8                 /* requests of one end at a time */

struct wsh_ping;

/* What the other end needs to reach a NIC: nothing of it is believed. */
struct wsh_ping_end {
    unsigned char address[WSH_PING_ADDRESS];
    size_t address_len;
    uint64_t key, base, len; /* of the memory that it may write and read */
};

/* libfabric's words for what is used. */
struct wsh_ping_words {
    char provider[64], fabric[64], format[32];
    int n_nics;
};

/* Chooses the provider and the NICs as a job of several hosts does. 0; else an error, after one line. */
int wsh_ping_open(struct wsh_ping **ping, const struct wsh_env *env, struct wsh_ping_words *words);
void wsh_ping_close(struct wsh_ping *ping);

/* The name of NIC i, and the address that its endpoint has. */
const char *wsh_ping_nic(const struct wsh_ping *ping, int i);
const char *wsh_ping_address(const struct wsh_ping *ping, char *text, size_t size);

/* Opens NIC i, with memory that the other end may write and read, and closes it. 0; else an error, after one line. */
int wsh_ping_begin(struct wsh_ping *ping, int i, struct wsh_ping_end *own);
void wsh_ping_end(struct wsh_ping *ping);

/* Learns of the other end. 0, or -EINVAL: what it says of itself cannot be. */
int wsh_ping_learn(struct wsh_ping *ping, const struct wsh_ping_end *other);

/* Starts a message of one word, or a write or read of `len` bytes. 0, -EAGAIN: no room now, or an error (why). */
int wsh_ping_send(struct wsh_ping *ping, uint64_t word);
int wsh_ping_write(struct wsh_ping *ping, size_t len);
int wsh_ping_read(struct wsh_ping *ping, size_t len);

/* Requests that have begun and not ended. */
int wsh_ping_under_way(const struct wsh_ping *ping);

/* Bytes of a write or read that this NIC takes. */
size_t wsh_ping_bytes(const struct wsh_ping *ping);

/* Fills what is written next; afterwards, whether the bytes that were read are those. */
void wsh_ping_fill(struct wsh_ping *ping, unsigned seed);
int wsh_ping_compare(const struct wsh_ping *ping, size_t len);

enum wsh_ping_seen { WSH_PING_NOTHING, WSH_PING_MESSAGE, WSH_PING_DONE };

/* One thing that has happened: a message, *word, or the end of a request. A negative error: why. */
int wsh_ping_turn(struct wsh_ping *ping, uint64_t *word);

/* What libfabric said of the last error. */
const char *wsh_ping_why(const struct wsh_ping *ping);

#endif
