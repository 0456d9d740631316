/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows where flags are, and whom a wait for them names. */
#include "runtime/coll/hear.h"

#include "runtime/wait.h"

#include <stdio.h>

/* Acquire: partner of the release in the member's put_signal, signal or publication of a cell. */
static uint64_t word_of(const struct wsh_hear *hear, int member)
{
    const struct wsh_coll *coll = hear->team->coll;
    const char *pad = hear->there ? coll->peer[member] : coll->base;

    return __atomic_load_n((const uint64_t *)(pad + hear->off + (size_t)member * hear->stride),
                           __ATOMIC_ACQUIRE);
}

static int try_hear(void *arg)
{
    struct wsh_hear *hear = arg;

    for (; hear->at < hear->n; hear->at++) {
        int member = hear->members[hear->at];
        uint64_t word;

        if (member == hear->team->my_pe)
            continue;
        word = word_of(hear, member);
        if (word >> hear->shift != hear->want)
            return -EAGAIN;
        hear->gathered |= word & ((UINT64_C(1) << hear->shift) - 1);
    }
    return 0;
}

static void describe(void *arg, char *text, size_t size)
{
    const struct wsh_hear *hear = arg;
    size_t used = (size_t)snprintf(text, size, "PE");

    for (int i = hear->at; i < hear->n && used < size; i++) {
        int member = hear->members[i];

        if (member != hear->team->my_pe && word_of(hear, member) >> hear->shift != hear->want)
            used += (size_t)snprintf(text + used, size - used, " %d", hear->team->members[member]);
    }
}

int wsh_hear_all(struct wsh_hear *hear, const char *routine)
{
    const struct wsh_wait_why why = {routine, describe, hear->team->coll->n_local};

    return wsh_wait(hear->team->job, &why, try_hear, hear);
}

int wsh_hear_one(struct wsh_team *team, int from, size_t off, uint64_t want, const char *routine)
{
    struct wsh_hear hear = {.team = team, .members = &from, .n = 1, .off = off, .want = want};

    return wsh_hear_all(&hear, routine);
}
