/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims about peers that die or speak nonsense. */
#include "test/contract/group.h"
#include "test/contract/suite.h"

#include "test/common/unit.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* One line, a final error, and no wait without end, whether the survivor goes on sending or waits for an answer. */
static void survive(struct group_pe *pe, bool sends)
{
    const struct wsh_amo amo = {WSH_AMO_ADD, 8, 1, 0};
    uint64_t value = 1, old;
    double start;
    int rc = 0;

    if (group_open_and_connect(pe))
        return;
    group_put_done(pe, 1 - pe->me, 64, &value, 8);
    group_fetch(pe, 1 - pe->me, 64, WSH_AMO_ADD, 8, 1, 0);
    group_quiet(pe);
    group_barrier(pe);
    group_barrier_still(pe); /* no progress while PE 1 dies: its news is an error of the wait */
    if (pe->me == 1)
        raise(SIGKILL);
    usleep(50000);
    group_hush(pe);
    if (!sends)
        rc = pe->ops->amo(pe->ctx, &pe->rmem[1][WSH_SEG_HEAP], 64, &amo, &old, NULL);
    for (start = group_now(); group_now() - start < 60 && (rc >= 0 || rc == -EAGAIN);) {
        if (sends)
            rc = pe->ops->put(pe->ctx, &pe->rmem[1][WSH_SEG_HEAP], 64, &value, 8, NULL);
        if (rc >= 0 || rc == -EAGAIN)
            rc = pe->ops->progress(pe->tp);
        usleep(1000);
    }
    group_check(pe, rc < 0, "operations to a killed PE give no error in 60 s");
    group_check(pe, unit_lines(group_heard(pe)) == 1 && strstr(group_heard(pe), "PE 1"),
                "not one line about PE 1: %s", group_heard(pe));
    group_close(pe);
}

static void send_to_dead(struct group_pe *pe)
{
    survive(pe, true);
}

static void wait_for_dead(struct group_pe *pe)
{
    survive(pe, false);
}

void claim_dead_peer(void)
{
    if (!group_path.dies_loudly)
        return;
    group_run_raw(2, send_to_dead);
    group_run_raw(2, wait_for_dead);
}

/* Bytes of an atomic's message and what is done to them; the head comes first, its tag first (efa/wire.h). */
static const struct {
    size_t offset;
    unsigned char bits;
} spoilers[] = {{8, 1},  {9, 64}, {10, 8}, {17, 64}, {21, 8}, {25, 8},
                {29, 8}, {46, 4}, {48, 7}, {49, 64}, {50, 1}},
  strange[] = {
      {0, 1}, {7, 128}, {3, 255}, {12, 1}, {14, 1}}; /* of the tag, and of the PE that it goes with */
static size_t spoiler;

static void bad_message(struct group_pe *pe)
{
    double start = group_now();
    int rc = 0;

    if (group_open_and_connect(pe))
        return;
    group_hush(pe);
    if (pe->me == 0) {
        group_path.corrupt(spoilers[spoiler].offset, spoilers[spoiler].bits);
        group_amo(pe, 1, 64, WSH_AMO_ADD, 8, 1);
        group_await(pe, 0, 1);
    } else {
        while (group_now() - start < 10 && (rc = pe->ops->progress(pe->tp)) >= 0)
            ;
        group_check(pe, rc < 0, "message with byte %zu spoilt was taken", spoilers[spoiler].offset);
        group_check(pe, unit_lines(group_heard(pe)) == 1 && strstr(group_heard(pe), "bad message"),
                    "not one line: %s", group_heard(pe));
        group_check(pe, !group_load(pe->heap[1] + 64), "and was applied");
        group_set_slot(pe, 0, 1);
    }
    group_close(pe);
}

void claim_bad_message(void)
{
    for (spoiler = 0; group_path.corrupt && spoiler < sizeof spoilers / sizeof spoilers[0]; spoiler++)
        group_run_raw(2, bad_message);
}

/* What lacks the tag of the PE that it says it is from changes nothing, and the target goes on. */
static void strange_message(struct group_pe *pe)
{
    double start = group_now();
    int rc = 0;

    if (group_open_and_connect(pe))
        return;
    group_hush(pe);
    if (pe->me == 0) {
        group_path.corrupt(strange[spoiler].offset, strange[spoiler].bits);
        group_amo(pe, 1, 64, WSH_AMO_ADD, 8, 1);
        group_await(pe, 0, 1);
    } else {
        while (group_now() - start < 10 && (rc = pe->ops->progress(pe->tp)) >= 0 && !*group_heard(pe))
            ;
        for (int i = 0; i < 1000 && rc >= 0; i++)
            rc = pe->ops->progress(pe->tp);
        group_check(pe, rc >= 0, "a message with byte %zu spoilt ended the target: %d",
                    strange[spoiler].offset, rc);
        group_check(pe, unit_lines(group_heard(pe)) == 1 && strstr(group_heard(pe), "dropped"),
                    "not one line: %s", group_heard(pe));
        group_check(pe, !group_load(pe->heap[1] + 64), "and was applied");
        group_set_slot(pe, 0, 1);
    }
    group_close(pe);
}

void claim_strange_message(void)
{
    for (spoiler = 0; group_path.corrupt && spoiler < sizeof strange / sizeof strange[0]; spoiler++)
        group_run_raw(2, strange_message);
}

/*
 * PE 1 answers no more, so that something is under way at PE 0 all the time. The put is too large for a message. A
 * launcher has some time to say who has died.
 */
static void fail(struct group_pe *pe, int times, bool event, const char *text)
{
    const struct wsh_amo amo = {WSH_AMO_ADD, 8, 1, 0};
    const struct wsh_rmem *to = &pe->rmem[1][WSH_SEG_HEAP];
    double start = group_now();
    uint64_t old;
    int rc;

    if (group_open_and_connect(pe))
        return;
    group_barrier(pe);
    if (pe->me == 0) {
        group_hush(pe);
        group_path.fail(times, event);
        rc = pe->ops->put(pe->ctx, to, 64, pe->heap[0], 20000, NULL);
        group_check(pe, !rc, "put gave %d", rc);
        rc = pe->ops->amo(pe->ctx, to, 64, &amo, &old, NULL);
        group_check(pe, !rc, "atomic gave %d", rc);
        while (group_now() - start < 60 && (rc = pe->ops->progress(pe->tp)) >= 0)
            usleep(1000);
        group_check(pe, rc < 0, "no error in 60 s");
        group_check(pe, group_now() - start > 1.5, "the error comes after %.1f s", group_now() - start);
        group_check(pe, times <= 0 || pe->ops->pending(pe->ctx, 1) > 1, "the failed put counts as delivered");
        group_check(pe, unit_lines(group_heard(pe)) == 1 && strstr(group_heard(pe), text), "not one line: %s",
                    group_heard(pe));
    }
    group_barrier_still(pe);
    group_close(pe);
}

static void fail_write(struct group_pe *pe)
{
    fail(pe, 3, false, "PE 1");
}

static void fail_alone(struct group_pe *pe)
{
    fail(pe, 0, true, "code 15");
}

static void fail_in_queue(struct group_pe *pe)
{
    fail(pe, -1, false, "reports");
}

void claim_failed_write(void)
{
    if (group_path.fail)
        group_run_raw(2, fail_write);
}

void claim_failed_alone(void)
{
    if (group_path.fail) {
        group_run_raw(2, fail_alone);
        group_run_raw(2, fail_in_queue);
    }
}
