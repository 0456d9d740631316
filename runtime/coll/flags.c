/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for flags of a pad, and names in a hang report the members whose flags are missing. */
#include "runtime/coll/flags.h"

#include "runtime/wait.h"

#include <stdio.h>

/* Acquire: partner of the release in the member's put_signal, signal or publication of a cell. */
static uint64_t flag_word(const struct wsh_flags *flags, int member)
{
    const struct wsh_coll *coll = flags->team->coll;
    const char *pad = flags->mapped ? coll->peer[member] : coll->base;

    return __atomic_load_n((const uint64_t *)(pad + flags->off + (size_t)member * flags->stride),
                           __ATOMIC_ACQUIRE);
}

static bool flag_is_set(const struct wsh_flags *flags, uint64_t word)
{
    uint64_t value = word >> flags->shift;

    return value == flags->want || (flags->passed && value > flags->want);
}

static int flags_try(void *arg)
{
    struct wsh_flags *flags = arg;

    for (; flags->at < flags->n; flags->at++) {
        int member = flags->members[flags->at];
        uint64_t word;

        if (member == flags->team->my_pe)
            continue;
        word = flag_word(flags, member);
        if (!flag_is_set(flags, word))
            return -EAGAIN;
        flags->gathered |= word & ((UINT64_C(1) << flags->shift) - 1);
    }
    return 0;
}

static void flags_describe(void *arg, char *text, size_t size)
{
    const struct wsh_flags *flags = arg;
    size_t used = (size_t)snprintf(text, size, "PE");

    for (int i = flags->at; i < flags->n && used < size; i++) {
        int member = flags->members[i];

        if (member != flags->team->my_pe && !flag_is_set(flags, flag_word(flags, member)))
            used += (size_t)snprintf(text + used, size - used, " %d", flags->team->members[member]);
    }
}

WSH_NO_ARRAYS int wsh_flags_await(struct wsh_flags *flags, const char *routine)
{
    const struct wsh_wait_why why = {routine, flags_describe, flags->team->coll->n_local};

    return wsh_wait(flags->team->job, &why, flags_try, flags);
}

WSH_NO_ARRAYS int wsh_flag_await(struct wsh_team *team, int from, size_t off, uint64_t want,
                                 const char *routine)
{
    struct wsh_flags flags = {.team = team, .members = &from, .n = 1, .off = off, .want = want};

    return wsh_flags_await(&flags, routine);
}
