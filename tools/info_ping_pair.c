/* SPDX-License-Identifier: BSD-3-Clause */
/* What both ends of a ping say to each other. Nothing that comes is believed. */
#define _GNU_SOURCE
#include "tools/info_ping_pair.h"

#include "base/version.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROTOCOL "warpshmem-ping 1"

int wsh_ping_report(const char *fmt, ...)
{
    char text[768];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fflush(stdout);
    fprintf(stderr, "warpshmem-info: --ping: %s\n", text);
    return 1;
}

double wsh_ping_step(const struct wsh_ping_pair *end)
{
    double until = wsh_ping_now() + WSH_PING_STEP_SECONDS;

    return until < end->until ? until : end->until;
}

int wsh_ping_greet(struct wsh_ping_pair *end)
{
    char host[HOST_NAME_MAX + 1] = "host";

    gethostname(host, sizeof host - 1);
    return wsh_ping_say(&end->line, PROTOCOL " %.31s %.63s %.63s %.63s %.31s %d", WSH_RELEASE, host,
                        end->own.provider, end->own.fabric, end->own.format, end->own.n_nics);
}

int wsh_ping_greeted(struct wsh_ping_pair *end, double until)
{
    char text[WSH_PING_LINE];
    struct wsh_ping_words *other = &end->other;

    if (wsh_ping_hear(&end->line, until, text) != 1)
        return -EPROTO;
    if (sscanf(text, PROTOCOL " %31s %63s %63s %63s %31s %d", end->other_version, end->other_host,
               other->provider, other->fabric, other->format, &other->n_nics) != 6)
        return -EPROTO;
    return other->n_nics < 1 || other->n_nics > 1024 ? -EPROTO : 0;
}

int wsh_ping_alike(const struct wsh_ping_pair *end)
{
    const struct wsh_ping_words *own = &end->own, *other = &end->other;

    if (strcmp(own->provider, other->provider))
        return wsh_ping_report(
            "libfabric's provider is %s here and %s on %s; set SHMEM_LIBFABRIC_PROVIDER alike, or see "
            "`fi_info` on both",
            own->provider, other->provider, end->other_host);
    if (strcmp(own->format, other->format))
        return wsh_ping_report(
            "addresses of %s are of kind %s here and %s on %s (IPv4 and IPv6?); set SHMEM_INTERFACE so that "
            "both have one kind",
            own->provider, own->format, other->format, end->other_host);
    if (strcmp(own->fabric, other->fabric) && !strncmp(own->provider, "efa", 3))
        return wsh_ping_report("the fabric of efa is %s here and %s on %s; install one libfabric on both",
                               own->fabric, other->fabric, end->other_host);
    return 0;
}

int wsh_ping_nic_say(struct wsh_ping_pair *end, int i, const struct wsh_ping_end *own)
{
    char address[2 * WSH_PING_ADDRESS + 1];

    for (size_t at = 0; at < own->address_len; at++)
        snprintf(address + 2 * at, 3, "%02x", own->address[at]);
    return wsh_ping_say(&end->line, "nic %d %.63s %s %" PRIx64 " %" PRIx64 " %" PRIx64, i,
                        wsh_ping_nic(end->ping, i % end->own.n_nics), address, own->key, own->base, own->len);
}

static int address_read(const char *text, struct wsh_ping_end *other)
{
    size_t len = strlen(text);

    other->address_len = len / 2;
    if (!len || len % 2 || len > 2 * sizeof other->address || text[strspn(text, "0123456789abcdef")])
        return -EPROTO;
    for (size_t at = 0; at < other->address_len; at++) {
        const char byte[3] = {text[2 * at], text[2 * at + 1], '\0'};

        other->address[at] = (unsigned char)strtoul(byte, NULL, 16);
    }
    return 0;
}

int wsh_ping_nic_read(struct wsh_ping_pair *end, const char *text, int *i, struct wsh_ping_end *other)
{
    char address[2 * WSH_PING_ADDRESS + 2];

    if (sscanf(text, "nic %d %63s %513s %" SCNx64 " %" SCNx64 " %" SCNx64, i, end->other_nic, address,
               &other->key, &other->base, &other->len) != 6 ||
        *i < 0 || *i >= 1024)
        return -EPROTO;
    return address_read(address, other);
}
