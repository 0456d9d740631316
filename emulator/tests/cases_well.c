/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults that operations survive: they are late, double, held up, refused, or fail for a while. */
#include "emulator/tests/cases.h"

#include <stdio.h>
#include <unistd.h>

#define QUIET_SECONDS 0.4 /* no operation is so slow without a reason */

static int late_writes(struct net *net)
{
    struct case_tally tally;

    case_warm_up(net, &tally);
    tally.slow = 0.02;
    for (int i = 0; i < 300; i++)
        case_measure(net, &tally);
    case_drain(net, &tally);
    printf("%ld writes, %ld of them late by 20 ms or more, %ld failed\n", tally.n_ok, tally.n_slow,
           tally.n_failed);
    return tally.n_failed || tally.n_slow < 30 || tally.n_slow > 200 ? NET_FAILED : NET_PASSED;
}

int case_drop(struct net *net)
{
    return case_pair(net, late_writes, case_serve);
}

static int stalled_writes(struct net *net)
{
    double end = net_now() + 20;
    struct case_tally tally;

    case_warm_up(net, &tally);
    while (tally.longest < QUIET_SECONDS && net_now() < end)
        case_measure(net, &tally);
    case_drain(net, &tally);
    printf("%ld writes, %ld failed, the longest took %.0f ms\n", tally.n_ok, tally.n_failed,
           tally.longest * 1e3);
    return tally.n_failed || tally.longest < QUIET_SECONDS ? NET_FAILED : NET_PASSED;
}

int case_stall(struct net *net)
{
    return case_pair(net, stalled_writes, case_serve);
}

/* Posts without polling until there is no room; then all of them must end, and there is room again. */
static int fill_queue(struct net *net)
{
    long n = 0, limit = 100000;
    struct case_tally tally;
    struct net_done done;

    case_warm_up(net, &tally);
    while (n < limit && net_write(net, 1, 0, 0, CASE_LEN, FI_DELIVERY_COMPLETE, 0, &net->op[n % NET_OPS]))
        n++;
    printf("libfabric %u.%u %s: %s after %ld writes (queue of %zu)\n", FI_MAJOR(fi_version()),
           FI_MINOR(fi_version()), net->info->fabric_attr->name,
           n < limit ? fi_strerror(FI_EAGAIN) : "never full", n, net->info->tx_attr->size);
    if (n == 0 || n == limit)
        return NET_FAILED;
    for (long i = 0; i < n; i++) {
        done = net_wait(net, "the end of a write");
        if (done.err)
            return case_expect(net, &done, 0, 0);
    }
    case_measure(net, &tally);
    case_drain(net, &tally);
    return tally.n_failed ? case_expect(net, &tally.error, 0, 0) : NET_PASSED;
}

int case_full(struct net *net)
{
    return case_pair(net, fill_queue, case_serve);
}

#define BURST 16

/* Takes a completion, if there is one. */
static void take_one(struct net *net, long *open, long *failed)
{
    struct net_done done;

    if (net_poll(net, &done)) {
        *open -= done.context != NULL;
        *failed += done.err != 0;
    }
    net_check_time(net, "the end of a write");
}

/* Doorbells that find no room although there is some: the caller takes a completion and tries again. */
static int refused_writes(struct net *net)
{
    long open = 0, failed = 0, refused = 0;

    if (!net_is_direct(net)) {
        puts("skip: the protocol of fabric efa counts what it posts, and never asks a full queue");
        return NET_SKIPPED;
    }
    for (int i = 0; i < 20 * BURST; i++) {
        while (!net_write(net, 1, 0, 0, CASE_LEN, FI_DELIVERY_COMPLETE, 0, &net->op[i])) {
            refused++;
            take_one(net, &open, &failed);
        }
        open++;
        while (open && i % BURST == BURST - 1)
            take_one(net, &open, &failed);
    }
    printf("%d writes in bursts of %d, refused %ld times, %ld failed\n", 20 * BURST, BURST, refused, failed);
    return failed || refused < 20 ? NET_FAILED : NET_PASSED;
}

int case_refused(struct net *net)
{
    return case_pair(net, refused_writes, case_serve);
}

/* --- duplicates: whoever polls payload bytes is misled --- */

#define DUPLICATE_TRIES 200
#define MARK UINT64_MAX

static _Atomic uint64_t *payload(const struct net *net)
{
    return (_Atomic uint64_t *)(void *)net->heap;
}

static int send_stamps(struct net *net)
{
    struct net_done done;

    for (uint64_t stamp = 1; stamp <= DUPLICATE_TRIES; stamp++) {
        atomic_store_explicit(payload(net), stamp, memory_order_relaxed);
        while (
            !net_write(net, 1, 0, 0, CASE_LEN, FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA, stamp, &net->op[0]))
            net_check_time(net, "room for a write");
        done = net_wait(net, "the end of a write");
        if (done.err)
            return case_expect(net, &done, 0, 0);
        while (atomic_load_explicit(&net->shared->word[CASE_READY], memory_order_acquire) < stamp)
            net_check_time(net, "the target");
    }
    return NET_PASSED;
}

/* Overwrites the payload as soon as it is seen, and looks whether it comes back before its completion. */
static bool returns(struct net *net, uint64_t stamp)
{
    struct net_done done = {0};
    int seen = 0;

    while (!net_poll(net, &done) || !(done.flags & FI_REMOTE_CQ_DATA) || done.data != stamp) {
        if (done.err)
            net_fail(net, "error %d, provider's %d: %s", done.err, done.prov_errno, done.text);
        if (atomic_load_explicit(payload(net), memory_order_acquire) == stamp) {
            atomic_store_explicit(payload(net), MARK, memory_order_relaxed);
            seen++;
        }
        net_check_time(net, "a write");
    }
    return seen > 1 || (seen == 1 && atomic_load_explicit(payload(net), memory_order_acquire) == stamp);
}

int case_duplicate(struct net *net)
{
    long n = 0, after = 0;
    int status = NET_PASSED;

    net_join(net);
    if (!net->me && FI_VERSION_LT(fi_version(), FI_VERSION(1, 18)))
        status = NET_SKIPPED;
    if (net->me == 0)
        return status ? (puts("skip: this libfabric has no device writes"), case_end(net, status))
                      : case_end(net, send_stamps(net));
    if (FI_VERSION_LT(fi_version(), FI_VERSION(1, 18)))
        return NET_PASSED;
    for (uint64_t stamp = 1; stamp <= DUPLICATE_TRIES; stamp++) {
        n += returns(net, stamp);
        atomic_store_explicit(payload(net), MARK, memory_order_relaxed);
        usleep(2000);
        after += atomic_load_explicit(payload(net), memory_order_acquire) != MARK;
        atomic_store_explicit(&net->shared->word[CASE_READY], stamp,
                              memory_order_release); /* with send_stamps */
    }
    printf("libfabric %u.%u %s: %ld of %d payloads came twice, %ld of them after the completion\n",
           FI_MAJOR(fi_version()), FI_MINOR(fi_version()), net->info->fabric_attr->name, n, DUPLICATE_TRIES,
           after);
    return after || n < DUPLICATE_TRIES / 20 ? NET_FAILED : NET_PASSED;
}

/* Fails for a while, and works before and after. */
static int interrupted_writes(struct net *net)
{
    double end = net_now() + 20;
    struct case_tally tally;

    case_warm_up(net, &tally);
    while ((!tally.n_failed || tally.ok_since < 100) && net_now() < end)
        case_measure(net, &tally);
    printf("%ld writes delivered, %ld failed, %ld delivered after the last failure\n", tally.n_ok,
           tally.n_failed, tally.ok_since);
    if (!tally.n_failed || !tally.ok_since)
        return NET_FAILED;
    return case_expect(net, &tally.error, 13, 4124);
}

int case_down(struct net *net)
{
    return case_pair(net, interrupted_writes, case_serve);
}
