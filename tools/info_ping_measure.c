/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a ping that measures every NIC. */
#define _GNU_SOURCE
#include "tools/info_ping_pair.h"

#include "tools/info_row.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM 20
#define ROUNDS 500
#define ROUND_SECONDS 1.0     /* all of them together */
#define BANDWIDTH_SECONDS 0.3 /* of writes */

struct result {
    char address[64];
    double median, late; /* microseconds of one way */
    double bandwidth;    /* MB/s */
};

/* Turns until such a thing is seen. 0; -ETIMEDOUT; -EIO: it has failed here or there, `text` says how; or an error. */
static int await(struct wsh_ping_pair *end, enum wsh_ping_seen wanted, uint64_t wanted_word, double until,
                 char text[WSH_PING_LINE])
{
    unsigned idle = 0;
    uint64_t word;

    for (;;) {
        int seen = wsh_ping_turn(end->ping, &word);

        if (seen < 0) {
            snprintf(text, WSH_PING_LINE, "%s", wsh_ping_why(end->ping));
            return -EIO;
        }
        if (seen == (int)wanted && (wanted == WSH_PING_DONE || word == wanted_word))
            return 0;
        idle = seen ? 0 : idle + 1;
        if (idle % WSH_PING_POLLS != WSH_PING_POLLS - 1)
            continue;
        if (wsh_ping_now() > until)
            return -ETIMEDOUT;
        seen = wsh_ping_hear(&end->line, 0, text);
        if (seen)
            return seen == 1 ? -EIO : seen;
        sched_yield();
    }
}

/* One turn where nothing began: whatever ends makes room, and a connection may be under way. */
static int make_room(struct wsh_ping_pair *end, double until, char text[WSH_PING_LINE])
{
    uint64_t word;
    int seen = wsh_ping_turn(end->ping, &word);

    if (seen < 0)
        snprintf(text, WSH_PING_LINE, "%s", wsh_ping_why(end->ping));
    if (seen)
        return seen < 0 ? -EIO : 0;
    sched_yield();
    return wsh_ping_now() > until ? -ETIMEDOUT : 0;
}

static int start(struct wsh_ping_pair *end, char kind, uint64_t word, size_t len)
{
    if (kind == 's')
        return wsh_ping_send(end->ping, word);
    return kind == 'w' ? wsh_ping_write(end->ping, len) : wsh_ping_read(end->ping, len);
}

static int post(struct wsh_ping_pair *end, char kind, uint64_t word, size_t len, double until,
                char text[WSH_PING_LINE])
{
    int rc, none = 0;

    while ((rc = start(end, kind, word, len)) == -EAGAIN && !none)
        none = make_room(end, until, text);
    if (none)
        return none;
    if (rc)
        snprintf(text, WSH_PING_LINE, "%s", wsh_ping_why(end->ping));
    return rc ? -EIO : 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Words there and back. A send ends whenever it may: its room is asked for when there is none. */
static int measure_latency(struct wsh_ping_pair *end, struct result *result, char text[WSH_PING_LINE])
{
    double times[ROUNDS], began = wsh_ping_now();
    int n = 0;

    for (int i = -WARM; i < ROUNDS && (n < 1 || wsh_ping_now() - began < ROUND_SECONDS); i++) {
        double at = wsh_ping_now(), until = wsh_ping_step(end);
        uint64_t word = (uint64_t)(i + WARM + 1);
        int rc = post(end, 's', word, 0, until, text);

        if (!rc)
            rc = await(end, WSH_PING_MESSAGE, word, until, text);
        if (rc)
            return rc;
        if (i >= 0)
            times[n++] = (wsh_ping_now() - at) * 1e6 / 2;
    }
    qsort(times, (size_t)n, sizeof times[0], compare_doubles);
    result->median = times[n / 2];
    result->late = times[(n * 99 - 1) / 100];
    return 0;
}

/* Until all requests have ended. */
static int drain(struct wsh_ping_pair *end, double until, char text[WSH_PING_LINE])
{
    int rc = 0;

    while (!rc && wsh_ping_under_way(end->ping))
        rc = await(end, WSH_PING_DONE, 0, until, text);
    return rc;
}

/* Whether the other end's key opens its memory: what is written there is read back. */
static int check_key(struct wsh_ping_pair *end, unsigned seed, char text[WSH_PING_LINE])
{
    static const char kinds[] = "wr";
    size_t len = wsh_ping_bytes(end->ping);
    double until = wsh_ping_step(end);
    int rc = drain(end, until, text);

    wsh_ping_fill(end->ping, seed);
    for (const char *kind = kinds; *kind && !rc; kind++) {
        rc = post(end, *kind, 0, len, until, text);
        if (!rc)
            rc = drain(end, until, text);
    }
    if (rc || !wsh_ping_compare(end->ping, len))
        return rc;
    snprintf(text, WSH_PING_LINE, "what was written and read back is not alike");
    return -EIO;
}

static int measure_bandwidth(struct wsh_ping_pair *end, struct result *result, char text[WSH_PING_LINE])
{
    size_t len = wsh_ping_bytes(end->ping);
    double began = wsh_ping_now(), until = wsh_ping_step(end);
    int n = 0, rc = 0;

    for (; !rc && wsh_ping_now() - began < BANDWIDTH_SECONDS; n++)
        rc = post(end, 'w', 0, len, until, text);
    if (!rc)
        rc = drain(end, until, text);
    result->bandwidth = (double)n * (double)len / (wsh_ping_now() - began) / 1e6;
    return rc;
}

/* Asks for the NIC of the same number there. */
static int meet(struct wsh_ping_pair *end, int i, char text[WSH_PING_LINE])
{
    struct wsh_ping_end own, other;
    int rc = wsh_ping_begin(end->ping, i % end->own.n_nics, &own), there;

    if (rc) {
        snprintf(text, WSH_PING_LINE, "it does not open");
        return -ENXIO;
    }
    rc = wsh_ping_nic_say(end, i, &own) ? -EPIPE : wsh_ping_hear(&end->line, wsh_ping_step(end), text);
    if (rc == 1 && !strncmp(text, "failed ", 7))
        rc = -EIO;
    else if (rc == 1)
        rc = wsh_ping_nic_read(end, text, &there, &other) ? -EPROTO : wsh_ping_learn(end->ping, &other);
    else if (rc == 0)
        rc = -EPIPE; /* no answer, by which the two would be in step */
    if (rc == -EINVAL)
        snprintf(text, WSH_PING_LINE, "%s", wsh_ping_why(end->ping));
    return rc;
}

static int measure_nic(struct wsh_ping_pair *end, int i, struct result *result, char text[WSH_PING_LINE])
{
    int rc = meet(end, i, text);

    if (rc == -ENXIO)
        return rc;
    wsh_ping_address(end->ping, result->address, sizeof result->address);
    if (!rc)
        rc = measure_latency(end, result, text);
    if (!rc)
        rc = check_key(end, (unsigned)i, text);
    if (!rc)
        rc = measure_bandwidth(end, result, text);
    wsh_ping_end(end->ping);
    return rc;
}

static void result_print(const struct wsh_ping_pair *end, int i, const struct result *result)
{
    static const char *const names[] = {"nic",         "address",        "other_nic",
                                        "#latency_us", "#latency_99_us", "#bandwidth_mbs"};
    const char *nic = wsh_ping_nic(end->ping, i % end->own.n_nics);
    char median[32], late[32], bandwidth[32];

    snprintf(median, sizeof median, "%.2f", result->median);
    snprintf(late, sizeof late, "%.2f", result->late);
    snprintf(bandwidth, sizeof bandwidth, "%.1f", result->bandwidth);
    if (end->job->parsable)
        wsh_info_row(stdout, "ping", 6, names,
                     (const char *const[]){nic, result->address, end->other_nic, median, late, bandwidth});
    else
        printf("%-16s %-26s %-16s %10s %10s %12s  written and read back\n", nic, result->address,
               end->other_nic, median, late, bandwidth);
    fflush(stdout);
}

/* The line of a NIC that fails. Returns whether the two ends are no longer in step. */
static bool nic_report(const struct wsh_ping_pair *end, int i, int rc, const char *text)
{
    const char *nic = wsh_ping_nic(end->ping, i % end->own.n_nics);

    if (rc == -EPIPE || rc == -EPROTO) {
        wsh_ping_report("%s has ended, or does not understand; see its lines", end->other_host);
        return true;
    }
    if (rc == -ETIMEDOUT)
        wsh_ping_report(
            "%s: nothing comes back from %s within %.0f s; let all traffic through between the two hosts "
            "(security group, "
            "firewall)",
            nic, end->other_host, WSH_PING_STEP_SECONDS);
    else
        wsh_ping_report("%s: %s; see `fi_info` on both hosts", nic,
                        strncmp(text, "failed ", 7) ? text : text + 7);
    return false;
}

static int measure(struct wsh_ping_pair *end)
{
    int n = end->own.n_nics > end->other.n_nics ? end->own.n_nics : end->other.n_nics, bad = 0;

    if (!end->job->parsable)
        printf("%s, warpshmem %s, provider %s, fabric %s: %d NIC(s) here, %d there\n"
               "%-16s %-26s %-16s %10s %10s %12s\n",
               end->other_host, end->other_version, end->own.provider, end->own.fabric, end->own.n_nics,
               end->other.n_nics, "NIC", "address", "NIC there", "us one way", "99 %", "MB/s");
    for (int i = 0; i < n; i++) {
        char text[WSH_PING_LINE] = "";
        struct result result = {0};
        int rc = measure_nic(end, i, &result, text);

        if (!rc)
            result_print(end, i, &result);
        bad |= rc != 0;
        if (rc && nic_report(end, i, rc, text))
            return 1;
        if (wsh_ping_now() > end->until)
            return wsh_ping_report("the time of %ld s is over behind NIC %d of %d; give more by --seconds",
                                   end->job->seconds, i + 1, n);
    }
    wsh_ping_say(&end->line, "end");
    return bad;
}

int wsh_ping_call(struct wsh_ping_pair *end)
{
    int rc = wsh_ping_connect(end->job->host, end->job->port, wsh_ping_step(end), &end->line);

    if (rc)
        return 1;
    if (wsh_ping_greet(end) || wsh_ping_greeted(end, wsh_ping_step(end)))
        rc = wsh_ping_report("at %s, port %s, is something else than `warpshmem-info --ping` of this version",
                             end->line.peer, end->job->port);
    else
        rc = wsh_ping_alike(end) || measure(end);
    wsh_ping_hang_up(&end->line);
    return rc;
}
