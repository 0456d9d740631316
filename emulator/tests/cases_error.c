/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults that end operations with an error of the device. */
#include "emulator/tests/cases.h"

#include <stdio.h>
#include <unistd.h>

/* Writes until one fails. */
static struct net_done write_until_error(struct net *net)
{
    struct case_tally tally = {0};

    while (!tally.n_failed) {
        case_measure(net, &tally);
        net_check_time(net, "an error");
    }
    return tally.error;
}

static int own_nic_gone(struct net *net)
{
    struct case_tally tally;
    struct net_done done;

    case_warm_up(net, &tally);
    done = write_until_error(net);
    return case_expect(net, &done, 1, 1);
}

int case_removed(struct net *net)
{
    return case_pair(net, own_nic_gone, case_serve);
}

static int peer_gone(struct net *net)
{
    struct case_tally tally;
    struct net_done done;

    case_warm_up(net, &tally);
    done = write_until_error(net);
    return case_expect(net, &done, 13, 4124);
}

int case_removed_peer(struct net *net)
{
    return case_pair(net, peer_gone, case_serve);
}

static int kill_peer(struct net *net)
{
    struct case_tally tally = {0};
    struct net_done done;

    case_warm_up(net, &tally);
    case_measure_for(net, 0.3, &tally);
    if (tally.n_failed)
        return case_expect(net, &tally.error, 0, 0);
    net_doom(net, 1);
    done = write_until_error(net);
    return case_expect(net, &done, 13, 4124);
}

int case_killed(struct net *net)
{
    return case_pair(net, kill_peer, case_serve);
}

/* The target closes its endpoint in good order, and lives on. */
int case_closed(struct net *net)
{
    struct case_tally tally = {0};
    struct net_done done;

    net_join(net);
    if (net->me) {
        while (!case_is_raised(net, CASE_WARM))
            net_poll(net, &done);
        net_close(net);
        case_raise(net, CASE_READY);
        case_idle(net);
        return NET_PASSED;
    }
    case_warm_up(net, &tally);
    case_raise(net, CASE_WARM);
    while (!case_is_raised(net, CASE_READY))
        net_check_time(net, "the target");
    done = write_until_error(net);
    return case_end(net, case_expect(net, &done, 9, 9));
}

static int write_to_nowhere(struct net *net)
{
    struct net_done done;

    net->shared->proc[1].name[8] ^= 0x55; /* inside the GID: a machine that there never was */
    net_insert(net, 1);
    done = write_until_error(net);
    return case_expect(net, &done, 15, 4126);
}

int case_unreachable(struct net *net)
{
    return case_pair(net, write_to_nowhere, case_serve);
}

/* The target has not inserted the initiator. */
int case_unknown(struct net *net)
{
    struct net_done done;

    net_open(net);
    if (!net_is_direct(net))
        net_skip(net, "the protocol of fabric efa tells each peer of the other");
    net_barrier(net);
    if (net->me == 0)
        net_insert(net, 1);
    net_barrier(net);
    if (net->me) {
        case_serve(net);
        return NET_PASSED;
    }
    done = write_until_error(net);
    return case_end(net, case_expect(net, &done, 14, 14));
}

static int write_with_bad_key(struct net *net)
{
    struct net_done done;

    if (!net_is_direct(net) && FI_VERSION_LT(fi_version(), FI_VERSION(1, 18))) {
        puts("skip: without device writes the device sees no key, and this provider looks at none");
        return NET_SKIPPED;
    }
    net->shared->proc[1].key ^= 0x5a5a;
    done = write_until_error(net);
    return case_expect(net, &done, 7, 7);
}

int case_bad_key(struct net *net)
{
    return case_pair(net, write_with_bad_key, case_serve);
}

/* Messages to a target that has no receives left. */
static int send_unreceived(struct net *net)
{
    struct net_done done = {0};
    struct case_tally tally;
    long n = 0;

    case_warm_up(net, &tally);
    case_raise(net, CASE_WARM);
    while (!done.err) {
        ssize_t rc = fi_send(net->ep, net->heap, CASE_LEN, net->desc, net->addr[1], &net->op[n % NET_OPS]);

        if (rc && rc != -FI_EAGAIN)
            net_fail(net, "fi_send: %s", fi_strerror((int)-rc));
        n += !rc;
        net_poll(net, &done);
        net_check_time(net, "an error");
    }
    printf("after %ld messages: ", n);
    return case_expect(net, &done, 10, 10);
}

static void serve_then_idle(struct net *net)
{
    struct net_done done;

    while (!case_is_raised(net, CASE_WARM))
        net_poll(net, &done);
    case_idle(net);
}

int case_rnr(struct net *net)
{
    return case_pair(net, send_unreceived, serve_then_idle);
}

/* Completions that nobody reads, in a queue that is too short for them. */
int case_overrun(struct net *net)
{
    struct net_done done = {0};
    long n = 0, ended = 0;

    net_join(net);
    if (net->me) {
        case_serve(net);
        return NET_PASSED;
    }
    if (!net_is_direct(net)) {
        puts("skip: the protocol of fabric efa sizes its queues itself");
        return case_end(net, NET_SKIPPED);
    }
    while (n < 100000 && net_write(net, 1, 0, 0, CASE_LEN, FI_DELIVERY_COMPLETE, 0, &net->op[n % NET_OPS]))
        n++;
    usleep(500000);
    while (!done.err && ended < n) {
        done = net_wait(net, "an error");
        ended += !done.err;
    }
    printf("%ld writes, %ld completions, then: ", n, ended);
    case_print(net, &done);
    return case_end(net, done.err ? NET_PASSED : NET_FAILED);
}
