/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows, decisions, and the wait for the rows of those that live. */
#include "runtime/team/meeting.h"

#include "base/log.h"
#include "runtime/coll/choose/state.h"
#include "runtime/job/job.h"
#include "runtime/wait/wait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word of a decision: the number of the meeting of its team, ok, and the numbers of struct wsh_decision. */
#define LEADER_BITS 22
#define UNIT_BITS 13 /* 1 + unit */
#define GENERATION_BITS 16
#define NUMBER_BITS 12
#define GENERATION_AT (LEADER_BITS + UNIT_BITS)
#define OK_AT (GENERATION_AT + GENERATION_BITS)
#define NUMBER_AT (OK_AT + 1)
#define FIELD(word, at, bits) ((word) >> (at) & ((UINT64_C(1) << (bits)) - 1))
_Static_assert(WSH_POOL_UNITS < 1 << UNIT_BITS && NUMBER_AT + NUMBER_BITS == 64, "a decision is one word");

#define TEAMS (WSH_TEAM_NUMBERS + WSH_POOL_UNITS)

/* What a PE has written last. Even versions are whole. */
struct row {
    uint64_t version;
    uint32_t come; /* boot.generation in whose shmem_finalize it is */
    uint32_t generation, number;
    int32_t first, team; /* the first member of the team, and its number: no two teams have the same */
    struct wsh_offer offer;
};

/* Also the words of decisions of teams whose first member is this PE. */
struct board {
    union {
        struct row row;
        char bytes[1024];
    };
    uint64_t decision[TEAMS];
};
_Static_assert(sizeof(struct row) <= 1024 && sizeof(struct row) % sizeof(uint64_t) == 0, "a row has room");

struct meeting {
    struct wsh_team *team;
    const struct wsh_offer *offer;
    struct wsh_decision *decision;
    uint32_t number, generation;
    int from;
    int missing;   /* the member whose row is not there yet */
    bool proposed; /* under the present generation, where PEs have copies of the board */
};

static struct board *board_of(const struct wsh_job *job, int pe)
{
    return (struct board *)job->failures.board + pe;
}

int wsh_meeting_open(struct wsh_job *job)
{
    if (!job->failures.failed)
        return 0;
    job->failures.board = job->boot.ops->board(&job->boot, (size_t)job->n_pes * sizeof(struct board));
    return job->failures.board ? 0 : -EIO;
}

/* Where PEs have copies of the board: this PE's row is sent to the others. */
static void row_tell(struct wsh_job *job)
{
    const size_t at = (size_t)job->my_pe * sizeof(struct board);

    if (job->boot.ops->board_tell)
        job->boot.ops->board_tell(&job->boot, at, sizeof(struct row));
}

static uint64_t *word_of(const struct meeting *meeting)
{
    const struct wsh_team *team = meeting->team;

    return &board_of(team->job, team->members[0])->decision[team->number];
}

/* Release: a reader that finds the version even, and the same twice, has a whole row. Partner: row_read. */
static void row_write(const struct meeting *meeting)
{
    const struct wsh_team *team = meeting->team;
    struct row *row = &board_of(team->job, team->job->my_pe)->row;

    __atomic_store_n(&row->version, row->version + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    row->generation = meeting->generation;
    row->number = meeting->number;
    row->first = team->members[0];
    row->team = team->number;
    row->offer = *meeting->offer;
    __atomic_store_n(&row->version, row->version + 1, __ATOMIC_RELEASE);
    row_tell(team->job);
}

/* By words: a thread of this PE may be writing it. */
static void row_copy(const struct row *row, struct row *copy)
{
    const uint64_t *from = (const uint64_t *)row;
    uint64_t *to = (uint64_t *)copy;

    for (size_t i = 0; i < sizeof *row / sizeof *from; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* False: it has not come to this meeting, or knows of another number of failures. */
static bool row_read(const struct meeting *meeting, int pe, struct row *copy)
{
    const struct row *row = &board_of(meeting->team->job, pe)->row;
    uint64_t version = __atomic_load_n(&row->version, __ATOMIC_ACQUIRE);

    row_copy(row, copy);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return version && version % 2 == 0 && __atomic_load_n(&row->version, __ATOMIC_RELAXED) == version &&
           copy->generation == meeting->generation && copy->number == meeting->number &&
           copy->first == meeting->team->members[0] && copy->team == meeting->team->number;
}

/* As those see it that know of so many failures. */
static bool is_gone(const struct wsh_job *job, int pe, uint32_t generation)
{
    const uint32_t at = wsh_failures_at(&job->failures, pe);

    return at && at <= generation;
}

static void offer_join(struct wsh_offer *all, const struct wsh_offer *one, int pe, int *leader)
{
    all->ok &= one->ok;
    for (int i = 0; i < WSH_POOL_WORDS; i++)
        all->map[i] &= one->map[i];
    if (*leader < 0 || one->finished < all->finished) {
        *leader = pe;
        all->finished = one->finished;
    }
}

static bool has_come(const struct wsh_job *job, int pe)
{
    return __atomic_load_n(&board_of(job, pe)->row.come, __ATOMIC_ACQUIRE) == job->boot.generation;
}

/* From the rows of all that live. -EAGAIN: one is missing; -EOWNERDEAD: it will not come. */
static int rows_join(struct meeting *meeting, struct wsh_offer *all, int *leader, int *n)
{
    const struct wsh_team *team = meeting->team;
    struct row row;

    for (meeting->missing = 0; meeting->missing < team->n_pes; meeting->missing++) {
        int pe = team->members[meeting->missing];

        if (is_gone(team->job, pe, meeting->generation))
            continue;
        if (!row_read(meeting, pe, &row))
            return has_come(team->job, pe) ? -EOWNERDEAD : -EAGAIN;
        offer_join(all, &row.offer, pe, leader);
        ++*n;
    }
    return 0;
}

static uint64_t decision_make(const struct meeting *meeting, struct wsh_offer *all, int leader, int n)
{
    struct wsh_job *job = meeting->team->job;
    int unit = wsh_pool_find(&job->pool, all->map, wsh_sync_area_of_job(job, n).len, meeting->from);

    return (uint64_t)meeting->number << NUMBER_AT | (uint64_t)all->ok << OK_AT |
           (uint64_t)meeting->generation << GENERATION_AT | (uint64_t)(unit + 1) << LEADER_BITS |
           (uint64_t)leader;
}

static bool is_decided(const struct meeting *meeting, uint64_t word)
{
    if (word >> NUMBER_AT != meeting->number)
        return false;
    *meeting->decision =
        (struct wsh_decision){.generation = (uint32_t)FIELD(word, GENERATION_AT, GENERATION_BITS),
                              .ok = FIELD(word, OK_AT, 1),
                              .unit = (int)FIELD(word, LEADER_BITS, UNIT_BITS) - 1,
                              .leader = (int)FIELD(word, 0, LEADER_BITS)};
    return true;
}

static int never_comes(const struct meeting *meeting)
{
    wsh_error("shmemx_team_shrink needs PE %d, which has called shmem_finalize; all survivors shrink a team, "
              "and the "
              "same number of times",
              meeting->team->members[meeting->missing]);
    return -EOWNERDEAD;
}

/* The first one counts. What stands there then. Release: partner of the acquire in try_decided. */
static uint64_t propose(struct meeting *meeting, uint64_t before, uint64_t decision)
{
    struct wsh_boot *boot = &meeting->team->job->boot;
    uint64_t *word = word_of(meeting);

    if (!boot->ops->board_decide) {
        if (__atomic_compare_exchange_n(word, &before, decision, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return decision;
        return before;
    }
    if (!meeting->proposed)
        boot->ops->board_decide(boot, (size_t)((char *)word - (char *)meeting->team->job->failures.board),
                                before, decision);
    meeting->proposed = true;
    return before;
}

static int try_decided(void *arg)
{
    struct meeting *meeting = arg;
    struct wsh_job *job = meeting->team->job;
    struct wsh_offer all = {.ok = true};
    int leader = -1, n = 0, rc;
    uint64_t word = __atomic_load_n(word_of(meeting), __ATOMIC_ACQUIRE), decision;

    if (is_decided(meeting, word))
        return 0;
    wsh_failures_take(job);
    if (__atomic_load_n(&job->failures.seen, __ATOMIC_ACQUIRE) != meeting->generation) {
        meeting->generation = __atomic_load_n(&job->failures.seen, __ATOMIC_ACQUIRE);
        meeting->proposed = false;
        row_write(meeting);
    }
    memset(all.map, 0xff, sizeof all.map);
    rc = rows_join(meeting, &all, &leader, &n);
    if (rc == -EOWNERDEAD && !is_decided(meeting, __atomic_load_n(word_of(meeting), __ATOMIC_ACQUIRE)))
        return never_comes(meeting);
    if (rc)
        return rc == -EAGAIN ? rc : 0;
    decision = decision_make(meeting, &all, leader, n);
    return is_decided(meeting, propose(meeting, word, decision)) ? 0 : -EAGAIN;
}

static void meeting_describe(void *arg, char *text, size_t size)
{
    const struct meeting *meeting = arg;

    snprintf(text, size, "PE %d and other survivors to come there",
             meeting->missing < meeting->team->n_pes ? meeting->team->members[meeting->missing] : -1);
}

/* Of those that have failed it needs none. */
static int meeting_needs(void *arg, int pe)
{
    const struct wsh_team *team = ((const struct meeting *)arg)->team;

    if (pe < 0)
        return -1;
    for (int i = 0; i < team->n_pes; i++)
        if (team->members[i] == pe)
            return !wsh_failures_has(&team->job->failures, pe);
    return false;
}

int wsh_meeting_hold(struct wsh_team *team, const struct wsh_offer *offer, int from,
                     struct wsh_decision *decision)
{
    static const struct wsh_wait_why why = {"shmemx_team_shrink", meeting_describe, meeting_needs};
    struct meeting meeting = {.team = team, .offer = offer, .decision = decision, .from = from};
    const uint64_t last = __atomic_load_n(word_of(&meeting), __ATOMIC_ACQUIRE);

    /* It does not change before this PE's row is there. */
    meeting.number = (uint32_t)((last >> NUMBER_AT) + 1) & ((1u << NUMBER_BITS) - 1);
    wsh_failures_take(team->job);
    meeting.generation = __atomic_load_n(&team->job->failures.seen, __ATOMIC_ACQUIRE);
    row_write(&meeting);
    return wsh_wait(team->job, &why, try_decided, &meeting);
}

void wsh_meeting_come(struct wsh_job *job)
{
    if (!job->failures.board)
        return;
    /* Release: what this PE has sent is complete. Partner: has_come. */
    __atomic_store_n(&board_of(job, job->my_pe)->row.come, job->boot.generation, __ATOMIC_RELEASE);
    row_tell(job);
}

static int try_all(void *arg)
{
    struct wsh_job *job = arg;

    wsh_failures_take(job);
    for (int pe = 0; pe < job->n_pes; pe++)
        if (!has_come(job, pe) && !wsh_job_has_left(job, pe))
            return -EAGAIN;
    return 0;
}

static void all_describe(void *arg, char *text, size_t size)
{
    const struct wsh_job *job = arg;
    int pe = 0;

    while (pe < job->n_pes - 1 && (has_come(job, pe) || wsh_job_has_left(job, pe)))
        pe++;
    snprintf(text, size, "PE %d to come there", pe);
}

int wsh_meeting_await_all(struct wsh_job *job)
{
    static const struct wsh_wait_why why = {"shmem_finalize", all_describe, NULL};

    return job->failures.board ? wsh_wait(job, &why, try_all, job) : 0;
}

int *wsh_meeting_survivors(const struct wsh_team *team, const struct wsh_decision *decision, int *n)
{
    int *members = malloc((size_t)team->n_pes * sizeof *members);

    *n = 0;
    wsh_failures_take(team->job); /* all that the decision counts */
    for (int i = 0; members && i < team->n_pes; i++)
        if (!is_gone(team->job, team->members[i], decision->generation))
            members[(*n)++] = team->members[i];
    return members;
}
