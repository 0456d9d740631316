/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for flags of a sync area, and names in a hang report the members whose flags are missing. */
#include "runtime/coll/memory/flags.h"

#include "runtime/job/job.h"
#include "runtime/wait/wait.h"

#include <stdio.h>

/* Acquire: partner of the release in the member's put_signal, signal or publication of an LL line. */
static inline uint64_t word_load(const char *at)
{
    return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
}

static inline int flags_scan(struct wsh_flags *flags, bool mapped)
{
    /* After an acquire what is not in a variable would be read from memory again. */
    const struct wsh_coll *coll = flags->team->coll;
    const int *members = flags->members;
    char *const *peer = coll->peer, *own = coll->base + flags->off;
    size_t off = flags->off, stride = flags->stride;
    int me = flags->team->my_pe, n = flags->n, next = flags->next, at;
    uint64_t want = flags->want, span = flags->span, all = 0;

    for (at = flags->at; at < n; at++) {
        int member = members[next];

        if (member != me) {
            uint64_t word = word_load(mapped ? peer[member] + off : own + (size_t)member * stride);

            if (word - want > span)
                break;
            all |= word;
        }
        next = next + 1 < n ? next + 1 : 0;
    }
    flags->at = at;
    flags->next = next;
    flags->gathered |= all;
    return at < n ? -EAGAIN : 0;
}

static int mapped_try(void *arg)
{
    return flags_scan(arg, true);
}

static int own_try(void *arg)
{
    return flags_scan(arg, false);
}

static bool is_missing(const struct wsh_flags *flags, int member)
{
    const struct wsh_coll *coll = flags->team->coll;
    const char *at = flags->mapped ? coll->peer[member] : coll->base + (size_t)member * flags->stride;

    return member != flags->team->my_pe && word_load(at + flags->off) - flags->want > flags->span;
}

static void flags_describe(void *arg, char *text, size_t size)
{
    const struct wsh_flags *flags = arg;
    size_t used = (size_t)snprintf(text, size, "PE");

    for (int at = flags->at, index = flags->next; at < flags->n && used < size; at++) {
        int member = flags->members[index];

        if (is_missing(flags, member))
            used += (size_t)snprintf(text + used, size - used, " %d", flags->team->members[member]);
        index = index + 1 < flags->n ? index + 1 : 0;
    }
}

static bool is_member(const struct wsh_team *team, int pe)
{
    for (int member = 0; member < team->n_pes; member++)
        if (team->members[member] == pe)
            return true;
    return false;
}

/* The failure of any member ends the call everywhere: members that have seen it send nothing more. */
static int flags_need(void *arg, int pe)
{
    const struct wsh_flags *flags = arg;

    if (pe < 0) /* where the last try has stopped */
        return flags->at < flags->n ? flags->team->members[flags->members[flags->next]] : -1;
    if (wsh_failures_has(&flags->team->job->failures, pe))
        return is_member(flags->team, pe);
    for (int at = flags->at, index = flags->next; at < flags->n; at++) {
        int member = flags->members[index];

        if (flags->team->members[member] == pe && is_missing(flags, member))
            return true;
        index = index + 1 < flags->n ? index + 1 : 0;
    }
    return false;
}

WSH_NO_ARRAYS int wsh_flags_await(struct wsh_flags *flags, const char *routine)
{
    const struct wsh_wait_why why = {routine, flags_describe, flags_need, flags->team->coll->n_local};

    return wsh_wait(flags->team->job, &why, flags->mapped ? mapped_try : own_try, flags);
}

WSH_NO_ARRAYS int wsh_flag_await(struct wsh_team *team, int from, size_t off, uint64_t want,
                                 const char *routine)
{
    struct wsh_flags flags = {.team = team, .members = &from, .n = 1, .off = off, .want = want};

    return wsh_flags_await(&flags, routine);
}
