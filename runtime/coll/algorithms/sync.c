/* SPDX-License-Identifier: BSD-3-Clause */
/* The sync of a team: by words that are read in shared memory or sent to all, dissemination, or through leaders. */
#include "runtime/coll/coll.h"

#include "runtime/coll/choose/dispatch.h"
#include "runtime/coll/memory/flags.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/op/order.h"

#include <errno.h>

/*
 * A sync in progress. A flag holds the epoch and, in its lowest bit, whether its writer, or any member whose flag the
 * writer has seen, passed ok = false.
 */
struct wsh_sync_call {
    struct wsh_team *team;
    const char *routine;
    size_t flags; /* of this epoch's parity, in the sync area */
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

/* Waits for the word of each member; with `word` >= 0 for that word of the only member. */
static WSH_NO_ARRAYS int word_await(struct wsh_sync_call *call, const int *members, int n, int word)
{
    struct wsh_flags flags = {.team = call->team,
                              .members = members,
                              .n = n,
                              .off = call->flags,
                              .stride = sizeof(uint64_t),
                              .want = call->epoch << 1,
                              .span = 1};
    int rc;

    if (word >= 0) {
        flags.off += (size_t)word * sizeof(uint64_t);
        flags.stride = 0;
    }
    rc = wsh_flags_await(&flags, call->routine);
    call->bad |= flags.gathered & 1;
    return rc;
}

/* A word that I show in my sync area, and those that members show in theirs. */
static size_t word_shown(const struct wsh_sync_call *call, int word)
{
    const struct wsh_sync_area *area = &call->team->coll->area;

    return area->shown + ((call->epoch & 1) * (size_t)area->n_shown + (size_t)word) * WSH_SYNC_AREA_APART;
}

static void word_show(const struct wsh_sync_call *call, size_t at)
{
    uint64_t *shown = (uint64_t *)(call->team->coll->base + at);

    wsh_order_leaves();
    /* Release: what this member did before the sync, and what it has read. Partner: the acquire in flags.c. */
    __atomic_store_n(shown, call->epoch << 1 | call->bad, __ATOMIC_RELEASE);
}

static WSH_NO_ARRAYS int words_read(struct wsh_sync_call *call, size_t at, const int *members, int n)
{
    struct wsh_flags flags = {.team = call->team,
                              .members = members,
                              .n = n,
                              .off = at,
                              .mapped = true,
                              .want = call->epoch << 1,
                              .span = 1};
    int rc = wsh_flags_await(&flags, call->routine);

    call->bad |= flags.gathered & 1;
    return rc;
}

/* A member alone writes its words: each step moves one line to all readers, however many they are. */
static int sync_by_words(struct wsh_sync_call *call, const struct wsh_sync_group *all)
{
    const struct wsh_steps *steps = &call->team->coll->steps;
    int rc = 0, begin = 0;

    (void)all;
    for (int i = 0; i < steps->n && !rc; begin = steps->end[i++]) {
        size_t at = word_shown(call, steps->word[i]);

        word_show(call, at);
        rc = words_read(call, at, steps->member + begin, steps->end[i] - begin);
    }
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

/*
 * Dissemination to 7 others per round: compared to the latency of a network, further sends are nearly free. The words
 * of the rounds follow those of the members.
 */
static int sync_by_fans(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    int word = call->team->n_pes, sent = word, rc = 0;

    for (long step = 1; step < group->n && !rc; step *= WSH_SYNC_AREA_FAN) {
        for (long distance = step; distance < WSH_SYNC_AREA_FAN * step && distance < group->n && !rc;
             distance += step)
            rc = word_send(call, sent++, group->members[(group->at + distance) % group->n]);
        for (long distance = step; distance < WSH_SYNC_AREA_FAN * step && distance < group->n && !rc;
             distance += step)
            rc = word_await(call, &group->members[(group->at - distance + group->n) % group->n], 1, word++);
    }
    return rc;
}

/* All members of the group signal the first one, which waits for them. */
static int first_gather(struct wsh_sync_call *call, const struct wsh_sync_group *group)
{
    if (group->at)
        return word_send(call, call->team->my_pe, group->members[0]);
    return word_await(call, group->members, group->n, -1);
}

/* The first member of the group signals the others. */
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

/* Of a broken team. */
static int sync_refused(struct wsh_sync_call *call, const struct wsh_sync_group *all)
{
    (void)call, (void)all;
    return -EOWNERDEAD;
}

wsh_sync_fn *const wsh_sync_by[WSH_ALGOS] = {
    [WSH_ALGO_REFUSED] = sync_refused,    [WSH_ALGO_WORDS] = sync_by_words, [WSH_ALGO_LINEAR] = sync_linear,
    [WSH_ALGO_ROUNDS] = sync_by_rounds,   [WSH_ALGO_FANS] = sync_by_fans,   [WSH_ALGO_FIRST] = sync_at_first,
    [WSH_ALGO_LEADERS] = sync_by_leaders,
};

static int team_sync_by(wsh_sync_fn *by, struct wsh_team *team, const char *routine, uint64_t *bad)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_sync_call call = {.team = team, .routine = routine, .bad = *bad};
    const struct wsh_sync_group all = {coll->all, team->n_pes, team->my_pe};
    int rc;

    /* Reports errors of kernels first: a refused one must not appear complete, however soon all members enter. */
    rc = wsh_device_ops()->poll_errors(team->job);
    if (rc)
        return rc;
    call.epoch = ++coll->syncs;
    call.flags = coll->area.sync + (call.epoch & 1) * (size_t)coll->area.sync_words * sizeof(uint64_t);
    __atomic_thread_fence(
        __ATOMIC_SEQ_CST); /* my stores before the sync, loads after it; partner: the same at each member */
    rc = by(&call, &all);
    wsh_coll_all_entered(coll, coll->slots);
    *bad = call.bad;
    return rc;
}

static int team_sync(struct wsh_team *team, const char *routine, uint64_t *bad)
{
    return team_sync_by(wsh_sync_by[team->coll->sync], team, routine, bad);
}

WSH_NO_ARRAYS int wsh_sync(struct wsh_team *team, const char *routine)
{
    uint64_t bad = 0;

    return team_sync(team, routine, &bad);
}

/* When a member leaves, others may still read the words that it has shown; words that were sent to it are its own. */
int wsh_sync_last(struct wsh_team *team, const char *routine)
{
    enum wsh_algo algo = team->coll->sync == WSH_ALGO_WORDS ? WSH_ALGO_ROUNDS : team->coll->sync;
    uint64_t bad = 0;

    return team_sync_by(wsh_sync_by[algo], team, routine, &bad);
}

void wsh_coll_break(struct wsh_team *team)
{
    team->broken = true;
    team->coll->sync = WSH_ALGO_REFUSED;
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
