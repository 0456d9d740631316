/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how the members of a team meet: all signal all, dissemination, or by the leaders of the memory domains. */
#include "runtime/coll/coll.h"

#include "runtime/coll/dispatch.h"
#include "runtime/coll/hear.h"
#include "runtime/gpu/host.h"
#include "runtime/job.h"
#include "runtime/order.h"

/*
 * A sync under way. What a flag carries: the epoch, and in the lowest bit whether its writer, or anyone it has heard
 * from, is not ok.
 */
struct wsh_sync_call {
    struct wsh_team *team;
    const char *routine;
    size_t flags; /* of this epoch's parity, in the pad */
    uint64_t epoch;
    uint64_t bad;
};

/* Some of the team, of whom I am number `at`. */
struct wsh_sync_group {
    const int *members;
    int n, at;
};

static int send_flag(const struct wsh_sync_call *call, int word, int member)
{
    struct wsh_coll *coll = call->team->coll;
    const struct wsh_signal signal =
        wsh_coll_word(coll, call->flags + (size_t)word * sizeof(uint64_t), call->epoch << 1 | call->bad);

    return wsh_signal_send(&coll->ctx, &signal, member);
}

/* From each its word; or, where `word` >= 0, that one from the only member. */
static int hear(struct wsh_sync_call *call, const int *members, int n, int word)
{
    struct wsh_hear hear = {.team = call->team,
                            .members = members,
                            .n = n,
                            .off = call->flags,
                            .stride = sizeof(uint64_t),
                            .shift = 1,
                            .want = call->epoch};
    int rc;

    if (word >= 0) {
        hear.off += (size_t)word * sizeof(uint64_t);
        hear.stride = 0;
    }
    rc = wsh_hear_all(&hear, call->routine);
    call->bad |= hear.gathered;
    return rc;
}

/* Everybody's word is its number in the team. */
static int meet_linear(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int rc = 0;

    for (int k = 1; k < group->n && !rc; k++) {
        int i = group->at + k;

        rc = send_flag(call, call->team->my_pe, group->members[i < group->n ? i : i - group->n]);
    }
    return rc ? rc : hear(call, group->members, group->n, -1);
}

/* The words of the rounds follow those of the members. */
static int meet_by_rounds(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int rc = 0;

    for (int round = 0; 1 << round < group->n && !rc; round++) {
        int word = call->team->n_pes + round, to = (group->at + (1 << round)) % group->n;
        int from = (group->at - (1 << round) + group->n) % group->n;

        rc = send_flag(call, word, group->members[to]);
        if (!rc)
            rc = hear(call, &group->members[from], 1, word);
    }
    return rc;
}

/* The first of the group hears from the others … */
static int arrive(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    if (group->at)
        return send_flag(call, call->team->my_pe, group->members[0]);
    return hear(call, group->members, group->n, -1);
}

/* … and tells them. */
static int leave(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int rc = 0;

    if (group->at)
        return hear(call, group->members, 1, -1);
    for (int i = 1; i < group->n && !rc; i++)
        rc = send_flag(call, call->team->my_pe, group->members[i]);
    return rc;
}

static int meet_at_first(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int rc = arrive(call, group);

    return rc ? rc : leave(call, group);
}

/* Members tell their leader, leaders meet, and tell their members. */
static int meet_by_leaders(struct wsh_sync_call *call, const struct wsh_sync_group *all)
{
    struct wsh_coll *coll = call->team->coll;
    const struct wsh_sync_group locals = {coll->local, coll->n_local, coll->my_local};
    const struct wsh_sync_group leaders = {coll->leader, coll->n_domains, coll->my_domain};
    int rc = arrive(call, &locals);

    (void)all;
    if (!rc && !coll->my_local)
        rc = wsh_sync_by[coll->lead_sync](call, &leaders);
    return rc ? rc : leave(call, &locals);
}

wsh_sync_fn *const wsh_sync_by[WSH_ALGOS] = {
    [WSH_ALGO_LINEAR] = meet_linear,
    [WSH_ALGO_ROUNDS] = meet_by_rounds,
    [WSH_ALGO_FIRST] = meet_at_first,
    [WSH_ALGO_LEADERS] = meet_by_leaders,
};

static int meet(struct wsh_team *team, const char *routine, uint64_t *bad)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_sync_call call = {.team = team, .routine = routine, .bad = *bad};
    const struct wsh_sync_group all = {coll->all, team->n_pes, team->my_pe};
    int rc;

    rc = wsh_view_look(team->job); /* a kernel that was refused must not look done, however soon all meet */
    if (rc)
        return rc;
    call.epoch = ++coll->meets;
    call.flags = coll->pad.meet + (call.epoch & 1) * (size_t)coll->pad.meet_words * sizeof(uint64_t);
    __atomic_thread_fence(
        __ATOMIC_SEQ_CST); /* my stores before the sync, loads after it; partner: the same at each member */
    rc = wsh_sync_by[coll->sync](&call, &all);
    wsh_coll_all_met(coll, coll->ring);
    *bad = call.bad;
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
