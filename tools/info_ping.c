/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a ping that waits and answers; the start of both. */
#define _GNU_SOURCE
#include "tools/info_ping.h"

#include "base/env/env.h"
#include "base/err.h"
#include "tools/info_ping_pair.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HELLO_SECONDS 5.0 /* that whoever connects has to say who it is */

/* Sends back what comes, in turn, while the other end measures; its next line ends that. */
static int echo(struct wsh_ping_pair *end, char text[WSH_PING_LINE])
{
    uint64_t words[4 * WSH_PING_DEPTH], word;
    unsigned came = 0, sent = 0, idle = 0;

    while (wsh_ping_now() < end->until) {
        int seen = wsh_ping_turn(end->ping, &word);

        if (seen < 0)
            return wsh_ping_say(&end->line, "failed %.200s", wsh_ping_why(end->ping)) ? -EPIPE : seen;
        if (seen == WSH_PING_MESSAGE && came - sent < sizeof words / sizeof words[0])
            words[came++ % (sizeof words / sizeof words[0])] = word;
        if (came != sent && !wsh_ping_send(end->ping, words[sent % (sizeof words / sizeof words[0])]))
            sent++;
        idle = seen ? 0 : idle + 1;
        if (idle % WSH_PING_POLLS != WSH_PING_POLLS - 1)
            continue;
        seen = wsh_ping_hear(&end->line, 0, text);
        if (seen)
            return seen;
        sched_yield();
    }
    return -ETIMEDOUT;
}

/* One NIC; afterwards `text` is the other end's next line. 1, or an error: no line more comes. */
static int answer_nic(struct wsh_ping_pair *end, char text[WSH_PING_LINE])
{
    struct wsh_ping_end own, other;
    int i, rc = wsh_ping_nic_read(end, text, &i, &other);

    if (rc)
        return rc;
    if (wsh_ping_begin(end->ping, i % end->own.n_nics, &own)) {
        rc = wsh_ping_say(&end->line, "failed NIC %.63s does not open; a line there says why",
                          wsh_ping_nic(end->ping, i % end->own.n_nics));
        return rc ? rc : wsh_ping_hear(&end->line, end->until, text);
    }
    rc = wsh_ping_learn(end->ping, &other);
    rc = rc ? wsh_ping_say(&end->line, "failed %.200s", wsh_ping_why(end->ping))
            : wsh_ping_nic_say(end, i, &own);
    if (!rc)
        rc = echo(end, text);
    wsh_ping_end(end->ping);
    return rc == -EIO ? wsh_ping_hear(&end->line, end->until, text) : rc;
}

/* Serves one end that pings. 0; 1 after a line. */
static int answer(struct wsh_ping_pair *end)
{
    char text[WSH_PING_LINE];
    int rc, n = 0;

    if (wsh_ping_alike(end))
        return 1;
    rc = wsh_ping_hear(&end->line, wsh_ping_step(end), text);
    while (rc == 1 && !strncmp(text, "nic ", 4)) {
        n++;
        rc = answer_nic(end, text);
    }
    if (rc == 1 && !strcmp(text, "end")) {
        printf("%s has pinged %d NIC(s) of %s\n", end->other_host, n, end->own.provider);
        return 0;
    }
    if (rc == 0 || rc == -ETIMEDOUT)
        return wsh_ping_report("%s says nothing more within the time; look there", end->other_host);
    return wsh_ping_report("%s: %s; look there", end->other_host,
                           rc == -EPIPE ? "the connection is closed" : "what comes makes no sense");
}

/* Whoever does not ping is sent away, and others are waited for. */
static int serve(struct wsh_ping_pair *end)
{
    int listener = wsh_ping_listen(end->job->port), rc = 0;

    if (listener < 0)
        return 1;
    printf("waiting at port %s for `warpshmem-info --ping` of another host; provider %s, %d NIC(s)\n",
           end->job->port, end->own.provider, end->own.n_nics);
    fflush(stdout);
    for (;;) {
        double hello;

        rc = wsh_ping_accept(listener, end->until, &end->line);
        if (rc)
            break;
        hello = wsh_ping_now() + HELLO_SECONDS;
        if (!wsh_ping_greet(end) && !wsh_ping_greeted(end, hello < end->until ? hello : end->until))
            break;
        wsh_ping_report("%s has connected and does not ping; waiting for others", end->line.peer);
        wsh_ping_hang_up(&end->line);
    }
    close(listener);
    if (rc)
        return rc == -ETIMEDOUT
                   ? wsh_ping_report(
                         "nobody has pinged within %ld s; run `warpshmem-info --ping HOST` on another host",
                         end->job->seconds)
                   : wsh_ping_report("cannot accept connections: %s", wsh_strerror(rc));
    rc = answer(end);
    wsh_ping_hang_up(&end->line);
    return rc;
}

/* libfabric itself may wait for ever. */
static void give_up(int sig)
{
    static const char text[] = "warpshmem-info: --ping: a call of libfabric does not return; see `fi_info`\n";

    (void)sig;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

int wsh_info_ping(const struct wsh_ping_job *job)
{
    struct wsh_ping_pair end = {.job = job, .line.fd = -1, .until = wsh_ping_now() + (double)job->seconds};
    struct wsh_env env;
    int rc;

    signal(SIGALRM, give_up);
    alarm((unsigned)job->seconds + (unsigned)WSH_PING_STEP_SECONDS);
    if (wsh_env_load(&env) || wsh_ping_open(&end.ping, &env, &end.own))
        return 1;
    rc = job->host ? wsh_ping_call(&end) : serve(&end);
    wsh_ping_close(end.ping);
    return rc;
}
