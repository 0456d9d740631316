/* SPDX-License-Identifier: BSD-3-Clause */
/* Which addresses of this machine the endpoints of providers over sockets may have. */
#define _GNU_SOURCE
#include "transports/efa/nic/interface.h"

#include "base/err.h"
#include "base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of an address of sockets; NULL: it is of another family. */
static const void *address_bytes(const struct sockaddr *sa, int *bits)
{
    if (sa && sa->sa_family == AF_INET) {
        *bits = 32;
        return &((const struct sockaddr_in *)sa)->sin_addr;
    }
    if (sa && sa->sa_family == AF_INET6) {
        *bits = 128;
        return &((const struct sockaddr_in6 *)sa)->sin6_addr;
    }
    return NULL;
}

static bool bits_are_equal(const void *a, const void *b, int bits)
{
    const unsigned char *x = a, *y = b;
    int rest = bits % 8;

    if (memcmp(x, y, (size_t)bits / 8))
        return false;
    return !rest || !((x[bits / 8] ^ y[bits / 8]) >> (8 - rest));
}

/* An address with or without the length of its network: 10.0.0.0/8, fd00::/64, 127.0.0.1. */
static bool network_parse(const char *entry, unsigned char net[16], int *family, int *bits)
{
    char text[INET6_ADDRSTRLEN + 1];
    size_t len = strcspn(entry, "/");
    char *end = "";
    long n;

    if (len >= sizeof text)
        return false;
    memcpy(text, entry, len);
    text[len] = '\0';
    *family = strchr(text, ':') ? AF_INET6 : AF_INET;
    if (inet_pton(*family, text, net) != 1)
        return false;
    *bits = *family == AF_INET ? 32 : 128;
    n = entry[len] ? strtol(entry + len + 1, &end, 10) : *bits;
    if (*end || (entry[len] && !entry[len + 1]) || n < 0 || n > *bits)
        return false;
    *bits = (int)n;
    return true;
}

/* `name`: of the interface that has the address. */
static bool entry_matches(const char *entry, const char *name, const struct sockaddr *sa)
{
    unsigned char net[16];
    int family, bits, all;
    const void *bytes = address_bytes(sa, &all);

    if (!bytes)
        return false;
    if (!strcmp(entry, name))
        return true;
    return network_parse(entry, net, &family, &bits) && family == sa->sa_family &&
           bits_are_equal(bytes, net, bits);
}

static bool list_matches(const char *list, const char *name, const struct sockaddr *sa)
{
    char *copy = strdup(list), *rest = copy;
    bool found = false;

    for (char *entry; copy && !found && (entry = strsep(&rest, ", "));)
        found = *entry && entry_matches(entry, name, sa);
    free(copy);
    return found;
}

static bool addresses_are_equal(const struct sockaddr *a, const struct sockaddr *b)
{
    int bits = 0, others = 0;
    const void *mine = address_bytes(a, &bits), *theirs = address_bytes(b, &others);

    return mine && theirs && bits == others && bits_are_equal(mine, theirs, bits);
}

/* Any of this machine's addresses, or `only` that one, is in the list. */
static bool machine_matches(const struct ifaddrs *all, const char *list, const struct sockaddr *only)
{
    for (; all; all = all->ifa_next)
        if ((!only || addresses_are_equal(all->ifa_addr, only)) &&
            list_matches(list, all->ifa_name, all->ifa_addr))
            return true;
    return false;
}

static void list_interfaces(const struct ifaddrs *all, char *text, size_t size)
{
    size_t used = 0;

    for (*text = '\0'; all && used < size; all = all->ifa_next) {
        char address[INET6_ADDRSTRLEN];
        int bits;
        const void *bytes = address_bytes(all->ifa_addr, &bits);

        if (bytes && inet_ntop(all->ifa_addr->sa_family, bytes, address, sizeof address))
            used += (size_t)snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", all->ifa_name,
                                     address);
    }
}

int wsh_efa_where_open(struct wsh_efa_where *where, const struct wsh_env *env, bool loopback)
{
    struct ifaddrs *all = NULL;
    char text[512];
    int rc = 0;

    *where = (struct wsh_efa_where){env->interface, loopback && !env->interface && !env->domain,
                                    env->on_pe_failure == WSH_ON_PE_FAILURE_CONTINUE};
    if (!where->list)
        return 0;
    if (getifaddrs(&all)) {
        wsh_error("SHMEM_INTERFACE: the interfaces of this machine cannot be read: %s", wsh_strerror(errno));
        return -EINVAL;
    }
    if (!machine_matches(all, where->list, NULL)) {
        list_interfaces(all, text, sizeof text);
        wsh_error("SHMEM_INTERFACE='%s': this machine has no such interface or network; name some of: %s, or "
                  "networks such as 10.0.0.0/8",
                  where->list, text);
        rc = -EINVAL;
    }
    freeifaddrs(all);
    return rc;
}

static bool is_excluded(const struct wsh_efa_where *where, const struct sockaddr *sa)
{
    struct ifaddrs *all = NULL;
    bool found = !getifaddrs(&all) && machine_matches(all, where->list, sa);

    freeifaddrs(all);
    return !found;
}

/* Of endpoints over sockets; others have addresses of their own kind. */
static const struct sockaddr *socket_address(const struct fi_info *info)
{
    if (info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6)
        return info->src_addr;
    return NULL;
}

static bool address_is_loopback(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) >> 24 == 127;
    return sa->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

bool wsh_efa_info_is_loopback(const struct fi_info *info)
{
    const struct sockaddr *sa = socket_address(info);

    return sa && address_is_loopback(sa);
}

/* Link-local addresses reach no other host without a scope. */
static bool address_is_routable(const struct sockaddr *sa)
{
    return !address_is_loopback(sa) &&
           (sa->sa_family != AF_INET6 ||
            !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)sa)->sin6_addr));
}

int wsh_efa_where_rank(const struct wsh_efa_where *where, const struct fi_info *info)
{
    const struct sockaddr *sa = socket_address(info);

    if (!sa)
        return 0;
    if (where->list)
        return is_excluded(where, sa) ? -1 : 0;
    return where->loopback ? !address_is_loopback(sa) : !address_is_routable(sa);
}
