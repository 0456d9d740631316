/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how the members of a team meet: all signal all, dissemination, or by the leaders of the memory domains. */
#include "runtime/coll/coll.h"

#include "runtime/gpu/host.h"
#include "runtime/coll/hear.h"
#include "runtime/job.h"
#include "runtime/order.h"

/*
 * A sync under way. What a flag carries: the epoch, and in the lowest bit whether its writer, or anyone it has heard
 * from, is not ok.
 */
struct meeting {
    struct wsh_team *team;
    const char *routine;
    size_t flags; /* of this epoch's parity, in the pad */
    uint64_t epoch;
    uint64_t bad;
};

/* Some of the team, of whom I am number `at`. */
struct group {
    const int *members;
    int n, at;
};

static int send_flag(const struct meeting *meeting, int word, int member)
{
    struct wsh_coll *coll = meeting->team->coll;
    const struct wsh_signal signal = wsh_coll_word(coll, meeting->flags + (size_t)word * sizeof(uint64_t),
                                                   meeting->epoch << 1 | meeting->bad);

    return wsh_signal_send(&coll->ctx, &signal, member);
}

/* From each its word; or, where `word` >= 0, that one from the only member. */
static int hear(struct meeting *meeting, const int *members, int n, int word)
{
    struct wsh_hear hear = {.team = meeting->team,
                            .members = members,
                            .n = n,
                            .off = meeting->flags,
                            .stride = sizeof(uint64_t),
                            .shift = 1,
                            .want = meeting->epoch};
    int rc;

    if (word >= 0) {
        hear.off += (size_t)word * sizeof(uint64_t);
        hear.stride = 0;
    }
    rc = wsh_hear_all(&hear, meeting->routine);
    meeting->bad |= hear.gathered;
    return rc;
}

/* Everybody's word is its number in the team. */
static int meet_linear(struct meeting *meeting, const struct group *group)
{
    int rc = 0;

    for (int k = 1; k < group->n && !rc; k++) {
        int i = group->at + k;

        rc = send_flag(meeting, meeting->team->my_pe, group->members[i < group->n ? i : i - group->n]);
    }
    return rc ? rc : hear(meeting, group->members, group->n, -1);
}

/* The words of the rounds follow those of the members. */
static int meet_by_rounds(struct meeting *meeting, const struct group *group)
{
    int rc = 0;

    for (int round = 0; 1 << round < group->n && !rc; round++) {
        int word = meeting->team->n_pes + round, to = (group->at + (1 << round)) % group->n;
        int from = (group->at - (1 << round) + group->n) % group->n;

        rc = send_flag(meeting, word, group->members[to]);
        if (!rc)
            rc = hear(meeting, &group->members[from], 1, word);
    }
    return rc;
}

/* The first of the group hears from the others … */
static int arrive(struct meeting *meeting, const struct group *group)
{
    if (group->at)
        return send_flag(meeting, meeting->team->my_pe, group->members[0]);
    return hear(meeting, group->members, group->n, -1);
}

/* … and tells them. */
static int leave(struct meeting *meeting, const struct group *group)
{
    int rc = 0;

    if (group->at)
        return hear(meeting, group->members, 1, -1);
    for (int i = 1; i < group->n && !rc; i++)
        rc = send_flag(meeting, meeting->team->my_pe, group->members[i]);
    return rc;
}

static int meet_at_first(struct meeting *meeting, const struct group *group)
{
    int rc = arrive(meeting, group);

    return rc ? rc : leave(meeting, group);
}

static int meet_by(enum wsh_algo algo, struct meeting *meeting, const struct group *group)
{
    return algo == WSH_ALGO_LINEAR   ? meet_linear(meeting, group)
           : algo == WSH_ALGO_ROUNDS ? meet_by_rounds(meeting, group)
                                     : meet_at_first(meeting, group);
}

/* Members tell their leader, leaders meet, and tell their members. */
static int meet_by_leaders(struct meeting *meeting)
{
    struct wsh_coll *coll = meeting->team->coll;
    const struct group locals = {coll->local, coll->n_local, coll->my_local};
    const struct group leaders = {coll->leader, coll->n_domains, coll->my_domain};
    int rc = arrive(meeting, &locals);

    if (!rc && !coll->my_local)
        rc = meet_by(coll->lead_sync, meeting, &leaders);
    return rc ? rc : leave(meeting, &locals);
}

static int meet(struct wsh_team *team, const char *routine, uint64_t *bad)
{
    struct wsh_coll *coll = team->coll;
    struct meeting meeting = {.team = team, .routine = routine, .bad = *bad};
    const struct group all = {coll->all, team->n_pes, team->my_pe};
    int rc;

    rc = wsh_view_look(team->job); /* a kernel that was refused must not look done, however soon all meet */
    if (rc)
        return rc;
    meeting.epoch = ++coll->meets;
    meeting.flags = coll->pad.meet + (meeting.epoch & 1) * (size_t)coll->pad.meet_words * sizeof(uint64_t);
    __atomic_thread_fence(
        __ATOMIC_SEQ_CST); /* my stores before the sync, loads after it; partner: the same at each member */
    rc = coll->sync == WSH_ALGO_LEADERS ? meet_by_leaders(&meeting) : meet_by(coll->sync, &meeting, &all);
    wsh_coll_all_met(coll, coll->ring);
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
