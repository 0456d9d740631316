/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a team of PEs that know an id and their own numbers alone. The PE that made the id, the root, is one of them:
 * it collects who has come, and the others read its list. They agree on the team's memory as an active set does.
 *
 * Where PEs may fail nobody knows whether one that has failed would have come. So each gives up when it hears of a
 * failure since the id was made: the root answers so to those who are there; another member takes its word back. Both
 * go by compare-and-swap, so that a word is either claimed by the root, which then answers, or was never there.
 */
#include "runtime/team/split.h"

#include "base/log.h"
#include "runtime/coll/choose/state.h"
#include "runtime/memory/heap.h"
#include "runtime/job/job.h"
#include "runtime/op/amo.h"
#include "runtime/op/order.h"
#include "runtime/op/rma.h"
#include "runtime/op/signal.h"
#include "runtime/wait/wait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * An id is the number of the PE that made it, how many PEs had failed then, and a serial number there. Who comes sends
 * the serial number, how many are awaited, and 1 + its own number, in one word; an answer is the id with a verdict in
 * place of the failures.
 */
#define SERIAL_BITS 24
#define NUMBER_BITS 20
#define ROOT_AT (SERIAL_BITS + NUMBER_BITS)
#define SERIALS ((UINT64_C(1) << SERIAL_BITS) - 1)
#define NUMBERS ((UINT64_C(1) << NUMBER_BITS) - 1)
#define CLAIMED 1 /* in place of a word, which is more */

enum verdict { COMPLETE = 1, REFUSED, FAILED };

struct gathering {
    struct wsh_job *job;
    uint64_t id;
    int n_pes, root;
    bool claimed; /* this PE's word, so that the answer will come */
    int32_t *
        members; /* at the root: symmetric, to be read by all; behind them the serial number of the gathering */
};

int wsh_team_ids_open(struct wsh_job *job)
{
    size_t n = (size_t)job->n_pes;

    job->ids.arrived = wsh_heap_reserve(&job->heap, n * sizeof *job->ids.arrived, WSH_SYNC_AREA_LINE);
    job->ids.members = wsh_heap_reserve(&job->heap, (n + 1) * sizeof *job->ids.members, WSH_SYNC_AREA_LINE);
    job->ids.words = wsh_heap_reserve(&job->heap, 3 * sizeof *job->ids.words, WSH_SYNC_AREA_LINE);
    return job->ids.arrived && job->ids.members && job->ids.words ? 0 : -ENOMEM;
}

static uint64_t failures_seen(struct wsh_job *job)
{
    if (!job->failures.failed)
        return 0;
    wsh_failures_take(job);
    return __atomic_load_n(&job->failures.seen, __ATOMIC_ACQUIRE) & NUMBERS;
}

uint64_t wsh_team_id_make(struct wsh_job *job)
{
    return (uint64_t)job->my_pe << ROOT_AT | failures_seen(job) << SERIAL_BITS |
           (__atomic_fetch_add(&job->ids.serial, 1, __ATOMIC_RELAXED) % SERIALS + 1);
}

static bool has_failed_since(const struct gathering *gathering)
{
    return failures_seen(gathering->job) > (gathering->id >> SERIAL_BITS & NUMBERS);
}

static uint64_t answer_of(const struct gathering *gathering, enum verdict verdict)
{
    return (gathering->id & ~(NUMBERS << SERIAL_BITS)) | (uint64_t)verdict << SERIAL_BITS;
}

static void gathering_describe(void *arg, char *text, size_t size)
{
    const struct gathering *gathering = arg;

    snprintf(text, size, "%d members of the team with id %#llx", gathering->n_pes,
             (unsigned long long)gathering->id);
}

static const struct wsh_wait_why why = {"shmemx_team_init", gathering_describe};

/* Acquire: partner of the release in the members' signals. -EOWNERDEAD: somebody may not come. */
static int try_members(void *arg)
{
    struct gathering *gathering = arg;
    int n = 0;

    for (int pe = 0; pe < gathering->job->n_pes; pe++) {
        uint64_t word = __atomic_load_n(&gathering->job->ids.arrived[pe], __ATOMIC_ACQUIRE);

        n += word && word >> 2 * NUMBER_BITS == (gathering->id & SERIALS);
    }
    if (n >= gathering->n_pes)
        return 0;
    return has_failed_since(gathering) ? -EOWNERDEAD : -EAGAIN;
}

/* Whether `pe` has come to this gathering. Relaxed: try_members has acquired its word. */
static bool has_come(const struct gathering *gathering, int pe, uint64_t *word)
{
    *word = __atomic_load_n(&gathering->job->ids.arrived[pe], __ATOMIC_RELAXED);
    return *word && *word >> 2 * NUMBER_BITS == (gathering->id & SERIALS);
}

/*
 * Writes the list, from the words of those who have come. -EINVAL (logged): they do not agree. Release: a member that
 * reads the serial number behind the list has read this one, and not the next.
 */
static int members_list(const struct gathering *gathering)
{
    int32_t *serial = &gathering->members[gathering->job->n_pes];
    uint64_t word;

    __atomic_store_n(serial, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
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
    __atomic_store_n(serial, (int32_t)(gathering->id & SERIALS), __ATOMIC_RELEASE);
    return 0;
}

/* How many there are: those of members that have given up are not. */
static int words_claim(const struct gathering *gathering)
{
    uint64_t word;
    int n = 0;

    for (int pe = 0; pe < gathering->job->n_pes; pe++)
        n += has_come(gathering, pe, &word) &&
             __atomic_compare_exchange_n(&gathering->job->ids.arrived[pe], &word, CLAIMED, false,
                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return n;
}

/* Clears the word before the answer: a PE that has its answer may join another gathering at once. */
static int root_gather(struct gathering *gathering)
{
    struct wsh_job *job = gathering->job;
    enum verdict verdict = COMPLETE;
    struct wsh_signal signal = {&job->ids.words[0], 0, WSH_AMO_SET, 0};
    int rc = wsh_wait(job, &why, try_members, gathering);

    if (rc && rc != -EOWNERDEAD)
        return rc;
    if (!rc && members_list(gathering))
        verdict = REFUSED;
    if (words_claim(gathering) < gathering->n_pes)
        verdict = FAILED;
    signal.value = answer_of(gathering, verdict);
    rc = 0;
    for (int pe = 0; pe < job->n_pes && !rc; pe++)
        if (__atomic_load_n(&job->ids.arrived[pe], __ATOMIC_RELAXED) == CLAIMED) {
            __atomic_store_n(&job->ids.arrived[pe], 0, __ATOMIC_RELAXED);
            rc = wsh_signal_send(&job->world.coll->ctx, &signal, pe);
        }
    return rc;
}

/* The verdict, or 0. Acquire: partner of the release in the root's signal. An answer to another gathering is none. */
static int verdict_read(const struct gathering *gathering)
{
    uint64_t word = __atomic_load_n(&gathering->job->ids.words[0], __ATOMIC_ACQUIRE);

    return (word & ~(NUMBERS << SERIAL_BITS)) == answer_of(gathering, 0)
               ? (int)(word >> SERIAL_BITS & NUMBERS)
               : 0;
}

/* -EOWNERDEAD: it may not come. */
static int try_answer(void *arg)
{
    const struct gathering *gathering = arg;
    bool is_lost = gathering->claimed ? wsh_failures_has(&gathering->job->failures, gathering->root)
                                      : has_failed_since(gathering);

    if (verdict_read(gathering))
        return 0;
    return is_lost ? -EOWNERDEAD : -EAGAIN;
}

/* 0: the word was still there, or nobody is who would claim it; -EAGAIN: it is claimed. */
static int word_withdraw(const struct gathering *gathering, uint64_t word)
{
    struct wsh_job *job = gathering->job;
    struct wsh_ctx *ctx = &job->world.coll->ctx;
    const struct wsh_amo amo = {WSH_AMO_CSWAP, 8, 0, word};
    uint64_t before = 0;
    int rc = wsh_quiet(ctx);

    rc = rc ? rc : wsh_amo(ctx, &job->ids.arrived[job->my_pe], &amo, &before, gathering->root);
    if (rc || before == word || wsh_failures_has(&job->failures, gathering->root))
        return rc;
    return -EAGAIN;
}

static int answer_await(struct gathering *gathering, uint64_t word)
{
    int rc = wsh_wait(gathering->job, &why, try_answer, gathering);

    if (rc != -EOWNERDEAD || gathering->claimed)
        return rc;
    rc = word_withdraw(gathering, word);
    if (rc != -EAGAIN)
        return rc ? rc : -EOWNERDEAD;
    gathering->claimed = true;
    return wsh_wait(gathering->job, &why, try_answer, gathering);
}

/* -EOWNERDEAD: the root has failed, or is already at its next gathering, since another member has. */
static int list_read(const struct gathering *gathering, int *members)
{
    struct wsh_job *job = gathering->job;
    struct wsh_ctx *ctx = &job->world.coll->ctx;
    int32_t serial = 0;
    int rc = wsh_get(ctx, members, gathering->members, (size_t)gathering->n_pes * sizeof(int32_t),
                     gathering->root);

    rc = rc ? rc : wsh_get(ctx, &serial, &gathering->members[job->n_pes], sizeof serial, gathering->root);
    if (rc)
        return rc;
    return serial == (int32_t)(gathering->id & SERIALS) ? 0 : -EOWNERDEAD;
}

/* The members' numbers in the world (malloc'd) in *members. */
static int members_learn(struct gathering *gathering, int number, int **members)
{
    struct wsh_job *job = gathering->job;
    const uint64_t word = (gathering->id & SERIALS) << 2 * NUMBER_BITS |
                          (uint64_t)gathering->n_pes << NUMBER_BITS | ((uint64_t)number + 1);
    const struct wsh_signal signal = {&job->ids.arrived[job->my_pe], word, WSH_AMO_SET, 0};
    int rc = wsh_signal_send(&job->world.coll->ctx, &signal, gathering->root), verdict;

    gathering->claimed = gathering->root == job->my_pe;
    if (!rc && gathering->claimed)
        rc = root_gather(gathering);
    rc = rc ? rc : answer_await(gathering, word);
    if (rc)
        return rc;
    verdict = verdict_read(gathering);
    job->ids.words[0] = 0;
    if (verdict != COMPLETE)
        return verdict == REFUSED ? -EINVAL : -EOWNERDEAD;
    *members = malloc((size_t)gathering->n_pes * sizeof **members);
    return *members ? list_read(gathering, *members) : -ENOMEM;
}

int wsh_team_by_id(struct wsh_job *job, uint64_t id, int n_pes, int number, int num_contexts,
                   struct wsh_team **team)
{
    struct gathering gathering = {job, id, n_pes, (int)(id >> ROOT_AT), false, job->ids.members};
    int *members = NULL, unit, rc;

    *team = NULL;
    if (n_pes < 1 || n_pes > job->n_pes || number < 0 || number >= n_pes ||
        id >> ROOT_AT >= (uint64_t)job->n_pes || !(id & SERIALS))
        return -EINVAL;
    rc = members_learn(&gathering, number, &members);
    if (rc == -EOWNERDEAD)
        wsh_warn("shmemx_team_init: a PE has failed since PE %d made the id %#llx: make a new one for those "
                 "that live",
                 gathering.root, (unsigned long long)id);
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
