/* SPDX-License-Identifier: BSD-3-Clause */
/* The sync of a team: all signal all, dissemination, or through the leaders of the memory domains. */
#include "runtime/coll/coll.h"

#include "runtime/coll/dispatch.h"
#include "runtime/coll/flags.h"
#include "runtime/gpu/host.h"
#include "runtime/job.h"
#include "runtime/order.h"

/*
 * A sync in progress. A flag carries: the epoch, and in the lowest bit whether its writer, or any member whose flag
 * that has seen, is not ok.
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

static int word_send(const struct wsh_sync_call *call, int word, int member)
{
    struct wsh_coll *coll = call->team->coll;
    const struct wsh_signal signal =
        wsh_coll_word(coll, call->flags + (size_t)word * sizeof(uint64_t), call->epoch << 1 | call->bad);

    return wsh_signal_send(&coll->ctx, &signal, member);
}

/* Awaits the word of each; or, where `word` >= 0, that word of the only member. */
static WSH_NO_ARRAYS int word_await(struct wsh_sync_call *call, const int *members, int n, int word)
{
    struct wsh_flags flags = {.team = call->team,
                              .members = members,
                              .n = n,
                              .off = call->flags,
                              .stride = sizeof(uint64_t),
                              .shift = 1,
                              .want = call->epoch};
    int rc;

    if (word >= 0) {
        flags.off += (size_t)word * sizeof(uint64_t);
        flags.stride = 0;
    }
    rc = wsh_flags_await(&flags, call->routine);
    call->bad |= flags.gathered;
    return rc;
}

/* A member's word is its number in the team. */
static WSH_NO_ARRAYS int sync_linear(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int rc = 0;

    for (int k = 1; k < group->n && !rc; k++) {
        int i = group->at + k;

        rc = word_send(call, call->team->my_pe, group->members[i < group->n ? i : i - group->n]);
    }
    return rc ? rc : word_await(call, group->members, group->n, -1);
}

/* The words of the rounds follow those of the members. */
static int sync_by_rounds(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int rc = 0;

    for (int round = 0; 1 << round < group->n && !rc; round++) {
        int word = call->team->n_pes + round, to = (group->at + (1 << round)) % group->n;
        int from = (group->at - (1 << round) + group->n) % group->n;

        rc = word_send(call, word, group->members[to]);
        if (!rc)
            rc = word_await(call, &group->members[from], 1, word);
    }
    return rc;
}

/* All members signal the first of the group … */
static int first_gather(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    if (group->at)
        return word_send(call, call->team->my_pe, group->members[0]);
    return word_await(call, group->members, group->n, -1);
}

/* … which signals them. */
static int first_release(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int rc = 0;

    if (group->at)
        return word_await(call, group->members, 1, -1);
    for (int i = 1; i < group->n && !rc; i++)
        rc = word_send(call, call->team->my_pe, group->members[i]);
    return rc;
}

static int sync_at_first(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int rc = first_gather(call, group);

    return rc ? rc : first_release(call, group);
}

/* Members signal their leader, leaders sync among themselves, then signal their members. */
static int sync_by_leaders(struct wsh_sync_call *call, const struct wsh_sync_group *all)
{
    struct wsh_coll *coll = call->team->coll;
    const struct wsh_sync_group locals = {coll->local, coll->n_local, coll->my_local};
    const struct wsh_sync_group leaders = {coll->leader, coll->n_domains, coll->my_domain};
    int rc = first_gather(call, &locals);

    (void)all;
    if (!rc && !coll->my_local)
        rc = wsh_sync_by[coll->lead_sync](call, &leaders);
    return rc ? rc : first_release(call, &locals);
}

wsh_sync_fn *const wsh_sync_by[WSH_ALGOS] = {
    [WSH_ALGO_LINEAR] = sync_linear,
    [WSH_ALGO_ROUNDS] = sync_by_rounds,
    [WSH_ALGO_FIRST] = sync_at_first,
    [WSH_ALGO_LEADERS] = sync_by_leaders,
};

static int team_sync(struct wsh_team *team, const char *routine, uint64_t *bad)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_sync_call call = {.team = team, .routine = routine, .bad = *bad};
    const struct wsh_sync_group all = {coll->all, team->n_pes, team->my_pe};
    int rc;

    rc = wsh_view_look(
        team->job); /* a kernel that was refused must not look complete, however soon all have entered */
    if (rc)
        return rc;
    call.epoch = ++coll->syncs;
    call.flags = coll->pad.sync + (call.epoch & 1) * (size_t)coll->pad.sync_words * sizeof(uint64_t);
    __atomic_thread_fence(
        __ATOMIC_SEQ_CST); /* my stores before the sync, loads after it; partner: the same at each member */
    rc = wsh_sync_by[coll->sync](&call, &all);
    wsh_coll_all_entered(coll, coll->slots);
    *bad = call.bad;
    return rc;
}

WSH_NO_ARRAYS int wsh_sync(struct wsh_team *team, const char *routine)
{
    uint64_t bad = 0;

    return team_sync(team, routine, &bad);
}

int wsh_barrier(struct wsh_team *team, const char *routine)
{
    int rc = wsh_quiet(&team->job->ctx);

    return rc ? rc : wsh_sync(team, routine);
}

int wsh_agree(struct wsh_team *team, bool ok, bool *all_ok)
{
    uint64_t bad = !ok;
    int rc = team_sync(team, "an allocation", &bad);

    *all_ok = !bad;
    return rc;
}
