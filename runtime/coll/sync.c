/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how the members of a team meet: one step of signals to all, or dissemination. */
#include "runtime/coll/coll.h"

#include "device/host.h"
#include "runtime/coll/state.h"
#include "runtime/job.h"
#include "runtime/order.h"
#include "runtime/signal.h"
#include "runtime/wait.h"

#include <stdio.h>
#include <string.h>

/*
 * A sync under way. What a flag carries: the epoch, and in the lowest bit whether its writer, or anyone it has heard
 * from, is not ok.
 */
struct meeting {
    struct wsh_team *team;
    uint64_t *flags; /* of this epoch's parity */
    uint64_t epoch;
    uint64_t bad;
    int at; /* linear: next member to hear from; dissemination: round */
};

static uint64_t flag_at(const struct meeting *meeting, int i)
{
    /* Acquire: partner of the release in the member's signal. */
    return __atomic_load_n(&meeting->flags[i], __ATOMIC_ACQUIRE);
}

static int send_flag(struct meeting *meeting, int slot, int pe)
{
    const struct wsh_signal signal = {&meeting->flags[slot], meeting->epoch << 1 | meeting->bad, WSH_AMO_SET};

    return wsh_signal_send(&meeting->team->coll->ctx, &signal, pe);
}

static int try_hear_all(void *arg)
{
    struct meeting *meeting = arg;

    for (; meeting->at < meeting->team->n_pes; meeting->at++) {
        uint64_t flag =
            meeting->at == meeting->team->my_pe ? meeting->epoch << 1 : flag_at(meeting, meeting->at);

        if (flag >> 1 != meeting->epoch)
            return -EAGAIN;
        meeting->bad |= flag & 1;
    }
    return 0;
}

static void describe_linear(void *arg, char *text, size_t size)
{
    const struct meeting *meeting = arg;
    size_t used = (size_t)snprintf(text, size, "PE");

    for (int pe = meeting->at; pe < meeting->team->n_pes && used < size; pe++)
        if (pe != meeting->team->my_pe && flag_at(meeting, pe) >> 1 != meeting->epoch)
            used += (size_t)snprintf(text + used, size - used, " %d", meeting->team->members[pe]);
}

static int meet_linear(struct meeting *meeting, const char *routine)
{
    const struct wsh_wait_why why = {routine, describe_linear};
    const struct wsh_team *team = meeting->team;

    for (int k = 1; k < team->n_pes; k++) {
        int pe = team->my_pe + k, rc;

        rc = send_flag(meeting, team->my_pe, pe < team->n_pes ? pe : pe - team->n_pes);
        if (rc)
            return rc;
    }
    return wsh_wait(team->job, &why, try_hear_all, meeting);
}

static int try_hear_round(void *arg)
{
    struct meeting *meeting = arg;
    uint64_t flag = flag_at(meeting, meeting->at);

    if (flag >> 1 != meeting->epoch)
        return -EAGAIN;
    meeting->bad |= flag & 1;
    return 0;
}

static int partner(const struct meeting *meeting, int distance)
{
    const struct wsh_team *team = meeting->team;

    return (team->my_pe + distance + team->n_pes) % team->n_pes;
}

static void describe_round(void *arg, char *text, size_t size)
{
    const struct meeting *meeting = arg;

    snprintf(text, size, "PE %d (round %d), or one it waits for",
             meeting->team->members[partner(meeting, -(1 << meeting->at))], meeting->at);
}

static int meet_by_rounds(struct meeting *meeting, const char *routine)
{
    const struct wsh_wait_why why = {routine, describe_round};
    int rc = 0;

    for (; meeting->at < meeting->team->coll->rounds && !rc; meeting->at++) {
        rc = send_flag(meeting, meeting->at, partner(meeting, 1 << meeting->at));
        if (!rc)
            rc = wsh_wait(meeting->team->job, &why, try_hear_round, meeting);
    }
    return rc;
}

static int meet(struct wsh_team *team, const char *routine, uint64_t *bad)
{
    struct wsh_coll *coll = team->coll;
    struct meeting meeting = {.team = team, .bad = *bad};
    int rc;

    rc = wsh_view_look(team->job); /* a kernel that was refused must not look done, however soon all meet */
    if (rc)
        return rc;
    meeting.epoch = ++coll->sync_epoch;
    meeting.flags = coll->sync_flags + (meeting.epoch & 1) * (size_t)team->n_pes;
    __atomic_thread_fence(
        __ATOMIC_SEQ_CST); /* my stores before the sync, loads after it; partner: the same at each member */
    rc = coll->linear ? meet_linear(&meeting, routine) : meet_by_rounds(&meeting, routine);
    *bad = meeting.bad;
    return rc;
}

int wsh_sync(struct wsh_team *team, const char *routine)
{
    uint64_t bad = 0;

    return meet(team, routine, &bad);
}

int wsh_barrier(struct wsh_team *team, const char *routine)
{
    int rc = wsh_quiet(&team->job->ctx);

    return rc ? rc : wsh_sync(team, routine);
}

int wsh_agree(struct wsh_team *team, bool ok, bool *all_ok)
{
    uint64_t bad = !ok;
    int rc = meet(team, "an allocation", &bad);

    *all_ok = !bad;
    return rc;
}
