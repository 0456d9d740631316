/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a team of PEs that know an id and their own numbers alone. The PE that made the id, one of them, collects who
 * has come; the others read its list. They agree on the team's memory as an active set does.
 */
#include "runtime/team/split.h"

#include "base/log.h"
#include "runtime/coll/choose/state.h"
#include "runtime/memory/heap.h"
#include "runtime/job/job.h"
#include "runtime/op/rma.h"
#include "runtime/op/signal.h"
#include "runtime/wait/wait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * An id is the number of the PE that made it, and a serial number there. Who comes sends the serial number, how many
 * are awaited, and 1 + its own number, in one word; REFUSED and the id are the answers.
 */
#define SERIAL_BITS 24
#define NUMBER_BITS 20
#define SERIALS ((UINT64_C(1) << SERIAL_BITS) - 1)
#define NUMBERS ((UINT64_C(1) << NUMBER_BITS) - 1)
#define REFUSED UINT64_MAX

struct gathering {
    struct wsh_job *job;
    uint64_t id;
    int n_pes;
    int32_t *members; /* at the root: symmetric, to be read by all */
};

int wsh_team_ids_open(struct wsh_job *job)
{
    size_t n = (size_t)job->n_pes;

    job->ids.arrived = wsh_heap_reserve(&job->heap, n * sizeof *job->ids.arrived, WSH_SYNC_AREA_LINE);
    job->ids.members = wsh_heap_reserve(&job->heap, n * sizeof *job->ids.members, WSH_SYNC_AREA_LINE);
    job->ids.words = wsh_heap_reserve(&job->heap, 3 * sizeof *job->ids.words, WSH_SYNC_AREA_LINE);
    return job->ids.arrived && job->ids.members && job->ids.words ? 0 : -ENOMEM;
}

uint64_t wsh_team_id_make(struct wsh_job *job)
{
    return (uint64_t)job->my_pe << SERIAL_BITS |
           (__atomic_fetch_add(&job->ids.serial, 1, __ATOMIC_RELAXED) % SERIALS + 1);
}

static void gathering_describe(void *arg, char *text, size_t size)
{
    const struct gathering *gathering = arg;

    snprintf(text, size, "%d members of the team with id %#llx", gathering->n_pes,
             (unsigned long long)gathering->id);
}

static const struct wsh_wait_why why = {"shmemx_team_init", gathering_describe};

/* Acquire: partner of the release in the members' signals. */
static int try_members(void *arg)
{
    struct gathering *gathering = arg;
    int n = 0;

    for (int pe = 0; pe < gathering->job->n_pes; pe++) {
        uint64_t word = __atomic_load_n(&gathering->job->ids.arrived[pe], __ATOMIC_ACQUIRE);

        n += word && word >> 2 * NUMBER_BITS == (gathering->id & SERIALS);
    }
    return n >= gathering->n_pes ? 0 : -EAGAIN;
}

/* Whether `pe` has come to this gathering. Relaxed: try_members has acquired its word. */
static bool has_come(const struct gathering *gathering, int pe, uint64_t *word)
{
    *word = __atomic_load_n(&gathering->job->ids.arrived[pe], __ATOMIC_RELAXED);
    return *word && *word >> 2 * NUMBER_BITS == (gathering->id & SERIALS);
}

/* Writes the list, from the words of those who have come. -EINVAL (logged): they do not agree. */
static int members_list(const struct gathering *gathering)
{
    uint64_t word;

    for (int i = 0; i < gathering->n_pes; i++)
        gathering->members[i] = -1;
    for (int pe = 0; pe < gathering->job->n_pes; pe++) {
        int number, n;

        if (!has_come(gathering, pe, &word))
            continue;
        number = (int)(word & NUMBERS) - 1;
        n = (int)(word >> NUMBER_BITS & NUMBERS);
        if (n != gathering->n_pes || gathering->members[number] >= 0) {
            wsh_error(
                "shmemx_team_init: PE %d comes as number %d of %d, PE %d awaits %d PEs, each number once", pe,
                number, n, gathering->job->my_pe, gathering->n_pes);
            return -EINVAL;
        }
        gathering->members[number] = pe;
    }
    return 0;
}

/* Clears the word before the answer: a PE that has its answer may join another gathering at once. */
static int root_gather(struct gathering *gathering)
{
    struct wsh_job *job = gathering->job;
    struct wsh_signal signal = {&job->ids.words[0], gathering->id + 1, WSH_AMO_SET, 0};
    int rc = wsh_wait(job, &why, try_members, gathering);
    uint64_t word;

    if (!rc && members_list(gathering))
        signal.value = REFUSED;
    for (int pe = 0; pe < job->n_pes && !rc; pe++)
        if (has_come(gathering, pe, &word)) {
            __atomic_store_n(&job->ids.arrived[pe], 0, __ATOMIC_RELAXED);
            rc = wsh_signal_send(&job->world.coll->ctx, &signal, pe);
        }
    return rc;
}

/* Acquire: partner of the release in the root's signal. */
static int try_answer(void *arg)
{
    const struct gathering *gathering = arg;

    return __atomic_load_n(&gathering->job->ids.words[0], __ATOMIC_ACQUIRE) ? 0 : -EAGAIN;
}

/* The members' numbers in the world (malloc'd) in *members; the same error on all PEs that have come. */
static int members_learn(struct gathering *gathering, int number, int **members)
{
    struct wsh_job *job = gathering->job;
    struct wsh_ctx *ctx = &job->world.coll->ctx;
    int root = (int)(gathering->id >> SERIAL_BITS), rc;
    const uint64_t word = (gathering->id & SERIALS) << 2 * NUMBER_BITS |
                          (uint64_t)gathering->n_pes << NUMBER_BITS | ((uint64_t)number + 1);
    const struct wsh_signal signal = {&job->ids.arrived[job->my_pe], word, WSH_AMO_SET, 0};
    uint64_t answer;

    rc = wsh_signal_send(ctx, &signal, root);
    if (!rc && root == job->my_pe)
        rc = root_gather(gathering);
    rc = rc ? rc : wsh_wait(job, &why, try_answer, gathering);
    if (rc)
        return rc;
    answer = job->ids.words[0];
    job->ids.words[0] = 0;
    if (answer == REFUSED)
        return -EINVAL;
    *members = malloc((size_t)gathering->n_pes * sizeof **members);
    return *members
               ? wsh_get(ctx, *members, gathering->members, (size_t)gathering->n_pes * sizeof(int32_t), root)
               : -ENOMEM;
}

int wsh_team_by_id(struct wsh_job *job, uint64_t id, int n_pes, int number, int num_contexts,
                   struct wsh_team **team)
{
    struct gathering gathering = {job, id, n_pes, job->ids.members};
    int *members = NULL, unit, rc;

    *team = NULL;
    if (n_pes < 1 || n_pes > job->n_pes || number < 0 || number >= n_pes ||
        id >> SERIAL_BITS >= (uint64_t)job->n_pes || !(id & SERIALS))
        return -EINVAL;
    rc = members_learn(&gathering, number, &members);
    if (rc) {
        free(members);
        return rc;
    }
    *team = wsh_team_open(job, members, n_pes);
    rc = *team ? wsh_team_agree(*team, &job->ids.words[1], &unit) : -ENOMEM;
    if (rc) {
        wsh_team_close(*team);
        *team = NULL;
        return rc;
    }
    (*team)->num_contexts = num_contexts;
    wsh_team_attach(*team, unit);
    return 0;
}
