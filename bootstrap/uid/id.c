/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and reads the bytes of a unique id. */
#define _GNU_SOURCE
#include "bootstrap/uid/id.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define UID_MAGIC 0x55485357u /* "WSHU" */

/* Whoever makes an id can make its check: against accidents, not against strangers. */
static uint64_t uid_check(const struct wsh_uid *uid)
{
    static const unsigned char key[WSH_SIPHASH_KEY] = "warpshmem id";

    return wsh_siphash(key, uid, offsetof(struct wsh_uid, check));
}

void wsh_uid_seal(struct wsh_uid *uid)
{
    uid->magic = UID_MAGIC;
    uid->version = WSH_UID_VERSION;
    uid->check = uid_check(uid);
}

static bool addresses_are_valid(const struct wsh_uid *uid)
{
    if (!uid->n_addresses || uid->n_addresses > WSH_UID_ADDRESSES)
        return false;
    for (int i = 0; i < uid->n_addresses; i++)
        if ((uid->address[i].family != 4 && uid->address[i].family != 6) || !uid->address[i].port)
            return false;
    return true;
}

int wsh_uid_read(struct wsh_uid *uid, const void *bytes)
{
    memcpy(uid, bytes, sizeof *uid);
    if (uid->magic == UID_MAGIC && uid->version != WSH_UID_VERSION) {
        wsh_error("the unique id was made by another version of warpshmem (ids %u, ours %u); install one "
                  "version on all hosts",
                  uid->version, WSH_UID_VERSION);
        return -EINVAL;
    }
    if (uid->magic == UID_MAGIC && uid->check == uid_check(uid) && addresses_are_valid(uid))
        return 0;
    wsh_error("what was given as a unique id is none, or was changed on its path; pass on all 128 bytes that "
              "shmemx_get_uniqueid gave");
    return -EINVAL;
}

void wsh_uid_job_secret(const struct wsh_uid *uid, struct wsh_secret *secret)
{
    for (size_t at = 0; at < sizeof secret->key; at += sizeof(uint64_t)) {
        const char label[16] = {'j', 'o', 'b', (char)('0' + at)};
        uint64_t word = wsh_siphash(uid->secret.key, label, sizeof label);

        memcpy(secret->key + at, &word, sizeof word);
    }
}

socklen_t wsh_uid_address_to_socket(const struct wsh_uid_address *address, struct sockaddr_storage *to)
{
    struct sockaddr_in *in = (struct sockaddr_in *)to;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;

    memset(to, 0, sizeof *to);
    if (address->family == 4) {
        in->sin_family = AF_INET;
        in->sin_port = htons(address->port);
        memcpy(&in->sin_addr, address->bytes, sizeof in->sin_addr);
        return sizeof *in;
    }
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(address->port);
    memcpy(&in6->sin6_addr, address->bytes, sizeof in6->sin6_addr);
    return sizeof *in6;
}

bool wsh_uid_address_from_socket(struct wsh_uid_address *address, const struct sockaddr *from)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;

    *address = (struct wsh_uid_address){0};
    if (from->sa_family == AF_INET) {
        address->family = 4;
        address->port = ntohs(in->sin_port);
        memcpy(address->bytes, &in->sin_addr, sizeof in->sin_addr);
    } else if (from->sa_family == AF_INET6) {
        address->family = 6;
        address->port = ntohs(in6->sin6_port);
        memcpy(address->bytes, &in6->sin6_addr, sizeof in6->sin6_addr);
    }
    return address->family;
}

bool wsh_uid_address_is_loopback(const struct wsh_uid_address *address)
{
    if (address->family == 4)
        return address->bytes[0] == 127;
    return !memcmp(address->bytes, &in6addr_loopback, sizeof in6addr_loopback);
}

void wsh_uid_address_print(const struct wsh_uid_address *address, char text[WSH_UID_ADDRESS_TEXT])
{
    char bare[INET6_ADDRSTRLEN] = "?";
    bool six = address->family == 6;

    inet_ntop(six ? AF_INET6 : AF_INET, address->bytes, bare, sizeof bare);
    snprintf(text, WSH_UID_ADDRESS_TEXT, six ? "[%s]:%u" : "%s:%u", bare, address->port);
}
