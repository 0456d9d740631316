/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses interfaces. Bridges of containers and virtual machines have addresses that look like others and lead nowhere
 * from another host, and link-local addresses need a scope that means nothing there: neither is ever chosen by itself.
 */
#define _GNU_SOURCE
#include "bootstrap/uid/addr.h"

#include "base/err.h"
#include "base/log.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const bridges[] = {
    "docker", "br-", "veth",  "virbr",  "vnet", "vmnet", "vboxnet", "cni",   "cali", "flannel",
    "cilium", "lxc", "lxdbr", "podman", "kube", "weave", "tunl",    "dummy", "ifb",  "nodelocaldns",
};

static bool is_bridge(const char *name)
{
    for (size_t i = 0; i < sizeof bridges / sizeof bridges[0]; i++)
        if (!strncmp(name, bridges[i], strlen(bridges[i])))
            return true;
    return false;
}

static bool is_link_local(const struct wsh_uid_address *address)
{
    if (address->family == 4)
        return address->bytes[0] == 169 && address->bytes[1] == 254;
    return address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
}

/* Words are the beginnings of names; whole names after `=`. After a leading `^` they are those that are not taken. */
static bool is_wished(const char *names, const char *name)
{
    bool except = *names == '^', exact = names[except] == '=', found = false;

    for (const char *word = names + except + exact; *word && !found; word += *word == ',') {
        size_t len = strcspn(word, ",");

        found = len && !strncmp(name, word, len) && (!exact || !name[len]);
        word += len;
    }
    return found != except;
}

static bool has_family(const struct wsh_uid_nic *nic, const struct wsh_uid_wish *wish)
{
    return !wish->family || nic->address.family == wish->family;
}

/* May others reach it? Smaller is better, -1: no. */
static int nic_rank(const struct wsh_uid_nic *nic, const struct wsh_uid_wish *wish)
{
    if (!nic->up || !has_family(nic, wish) || is_link_local(&nic->address) ||
        wsh_uid_address_is_loopback(&nic->address))
        return -1;
    if (wish->names ? !is_wished(wish->names, nic->name) : is_bridge(nic->name))
        return -1;
    return 2 * !nic->routed + (nic->address.family == 6);
}

int wsh_uid_addr_choose(const struct wsh_uid_nic *nics, int n, const struct wsh_uid_wish *wish,
                        struct wsh_uid_address *chosen)
{
    int n_chosen = 0;

    for (int i = 0; i < n && !n_chosen; i++)
        if (nics[i].up && has_family(&nics[i], wish) && wsh_uid_address_is_loopback(&nics[i].address))
            chosen[n_chosen++] = nics[i].address;
    for (int rank = 0; rank < 4; rank++)
        for (int i = 0; i < n && n_chosen < WSH_UID_ADDRESSES; i++)
            if (nic_rank(&nics[i], wish) == rank)
                chosen[n_chosen++] = nics[i].address;
    return n_chosen;
}

/* The interface of the default route with the smallest metric in /proc/net/route. */
static void default_route4(char name[IF_NAMESIZE])
{
    FILE *file = fopen("/proc/net/route", "re");
    unsigned long least = ~0ul;
    char line[256];

    while (file && fgets(line, sizeof line, file)) {
        char nic[IF_NAMESIZE];
        unsigned long to, mask, metric;

        if (sscanf(line, "%15s %lx %*s %*s %*s %*s %lu %lx", nic, &to, &metric, &mask) == 4 && !to && !mask &&
            metric < least) {
            least = metric;
            memcpy(name, nic, sizeof nic);
        }
    }
    if (file)
        fclose(file);
}

#define ROUTE_REJECTS 0x200ul

static void default_route6(char name[IF_NAMESIZE])
{
    FILE *file = fopen("/proc/net/ipv6_route", "re");
    unsigned long least = ~0ul;
    char line[256];

    while (file && fgets(line, sizeof line, file)) {
        char nic[IF_NAMESIZE], to[33];
        unsigned long bits, metric, flags;

        if (sscanf(line, "%32s %lx %*s %*s %*s %lx %*s %*s %lx %15s", to, &bits, &metric, &flags, nic) == 5 &&
            !bits && strspn(to, "0") == 32 && !(flags & ROUTE_REJECTS) && strcmp(nic, "lo") &&
            metric < least) {
            least = metric;
            memcpy(name, nic, sizeof nic);
        }
    }
    if (file)
        fclose(file);
}

/* All addresses of this machine; *nics is malloc'd. */
static int nics_read(struct wsh_uid_nic **nics)
{
    char route4[IF_NAMESIZE] = "", route6[IF_NAMESIZE] = "";
    struct ifaddrs *all = NULL;
    int n = 0;

    if (getifaddrs(&all))
        return -errno;
    default_route4(route4);
    default_route6(route6);
    for (struct ifaddrs *at = all; at; at = at->ifa_next)
        n++;
    *nics = calloc((size_t)n + 1, sizeof **nics);
    n = 0;
    for (struct ifaddrs *at = all; *nics && at; at = at->ifa_next) {
        struct wsh_uid_nic *nic = &(*nics)[n];

        if (!at->ifa_addr || !wsh_uid_address_from_socket(&nic->address, at->ifa_addr))
            continue;
        snprintf(nic->name, sizeof nic->name, "%s", at->ifa_name);
        nic->up = (at->ifa_flags & IFF_UP) && (at->ifa_flags & IFF_RUNNING);
        nic->routed = !strcmp(nic->name, nic->address.family == 4 ? route4 : route6);
        n++;
    }
    freeifaddrs(all);
    return *nics ? n : -ENOMEM;
}

static void nics_print(const struct wsh_uid_nic *nics, int n, char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (int i = 0; i < n && used < size; i++) {
        char address[WSH_UID_ADDRESS_TEXT];

        wsh_uid_address_print(&nics[i].address, address);
        *strrchr(address, ':') = '\0';
        used += (size_t)snprintf(text + used, size - used, "%s%s %s%s", used ? ", " : "", nics[i].name,
                                 address, nics[i].up ? "" : " (down)");
    }
}

static int no_address(const struct wsh_uid_nic *nics, int n, const struct wsh_uid_wish *wish)
{
    char text[512];

    nics_print(nics, n, text, sizeof text);
    wsh_error("no interface to listen on%s%s%s; this machine has %s: see SHMEM_BOOTSTRAP_UID_IFNAME and "
              "SHMEM_BOOTSTRAP_UID_FAMILY, or bring one up",
              wish->names ? " is called " : "", wish->names ? wish->names : "",
              wish->family == 6   ? " with IPv6"
              : wish->family == 4 ? " with IPv4"
                                  : "",
              *text ? text : "none");
    return -ENODEV;
}

int wsh_uid_addr_find(const struct wsh_env *env, struct wsh_uid_address *chosen)
{
    struct wsh_uid_wish wish = {env->uid_ifname, env->uid_family == WSH_UID_INET    ? 4
                                                 : env->uid_family == WSH_UID_INET6 ? 6
                                                                                    : 0};
    struct wsh_uid_nic *nics = NULL;
    int n = nics_read(&nics), n_chosen;

    if (n < 0) {
        wsh_error("the interfaces of this machine cannot be read: %s", wsh_strerror(n));
        return n;
    }
    n_chosen = wsh_uid_addr_choose(nics, n, &wish, chosen);
    /* Loopback alone serves the processes of this host, unless another interface was asked for. */
    if (!n_chosen ||
        (wish.names && n_chosen == 1 && wsh_uid_address_is_loopback(chosen) && !is_wished(wish.names, "lo")))
        n_chosen = no_address(nics, n, &wish);
    free(nics);
    return n_chosen;
}

void wsh_uid_addr_route(const struct wsh_uid_address *address, char *text, size_t size)
{
    struct sockaddr_storage to, from = {0};
    socklen_t len = wsh_uid_address_to_socket(address, &to), from_len = sizeof from;
    struct wsh_uid_nic *nics = NULL;
    struct wsh_uid_address mine;
    int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), n = nics_read(&nics);

    snprintf(text, size, "no interface");
    if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, len) &&
        !getsockname(fd, (struct sockaddr *)&from, &from_len) &&
        wsh_uid_address_from_socket(&mine, (struct sockaddr *)&from))
        for (int i = 0; i < n; i++)
            if (nics[i].address.family == mine.family &&
                !memcmp(nics[i].address.bytes, mine.bytes, sizeof mine.bytes))
                snprintf(text, size, "interface %s", nics[i].name);
    if (fd >= 0)
        close(fd);
    free(nics);
}
