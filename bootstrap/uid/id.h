/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A unique id: 128 bytes by which processes that nobody else connects find each other. It holds where its root listens
 * and a secret, so whoever may read it may join the job.
 */
#ifndef WSH_BOOTSTRAP_UID_ID_H
#define WSH_BOOTSTRAP_UID_ID_H

#include "base/secret.h"

#include <stdbool.h>
#include <sys/socket.h>

#define WSH_UID_ADDRESSES 4
#define WSH_UID_ADDRESS_TEXT 64

/* Of a socket that listens; family 4 or 6 as the versions of IP, 0 = none. */
struct wsh_uid_address {
    uint16_t family, port;
    unsigned char bytes[16];
};

/* All PEs run on one machine architecture, so the id is carried in its byte order. */
struct wsh_uid {
    uint32_t magic;
    uint16_t version, n_addresses;
    uint64_t machine; /* of the root */
    struct wsh_secret secret;
    struct wsh_uid_address address[WSH_UID_ADDRESSES];
    uint32_t pid; /* of the root */
    uint32_t zero;
    uint64_t check; /* of all above: an id that was cut or changed on its path is noticed */
};

#define WSH_UID_VERSION 1

_Static_assert(sizeof(struct wsh_uid) <= 128, "an id has 128 bytes");

/* Fills magic, version and check of an id that is otherwise complete. */
void wsh_uid_seal(struct wsh_uid *uid);

/* Reads the id of 128 bytes. 0, or -EINVAL after one line. */
int wsh_uid_read(struct wsh_uid *uid, const void *bytes);

/* The secret of the job, which is another than the id's. */
void wsh_uid_job_secret(const struct wsh_uid *uid, struct wsh_secret *secret);

/* Returns the length of the address in *to. */
socklen_t wsh_uid_address_to_socket(const struct wsh_uid_address *address, struct sockaddr_storage *to);
/* False: it is of another family. */
bool wsh_uid_address_from_socket(struct wsh_uid_address *address, const struct sockaddr *from);

bool wsh_uid_address_is_loopback(const struct wsh_uid_address *address);
/* 10.0.0.1:4711, [fd00::1]:4711 */
void wsh_uid_address_print(const struct wsh_uid_address *address, char text[WSH_UID_ADDRESS_TEXT]);

#endif
