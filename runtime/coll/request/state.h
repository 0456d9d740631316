/* SPDX-License-Identifier: BSD-3-Clause */
/* A request in progress, and what a team keeps for its requests. For the files of this folder. */
#ifndef WSH_COLL_REQUEST_STATE_H
#define WSH_COLL_REQUEST_STATE_H

#include "base/invariant.h"
#include "runtime/coll/choose/state.h"
#include "runtime/coll/request/request.h"
#include "runtime/job/job.h"
#include "runtime/wait/left.h"

#include <pthread.h>

/*
 * Counters of a slot; those of a sync's rounds come first: 8^6 members. In small teams each member has words of its
 * own in place of that of the one round, and of that of data: a store, which nobody waits for, is faster than an
 * atomic. That of data is in a cell, behind a short block; the block, which may have any value, lies where no number
 * is looked for. Cells of one member that follow each other share cache lines: what is begun at once comes at once. A
 * member counts once at a counter and another member.
 */
enum { WSH_REQ_DATA = 7 };

/* Beside a number, or a count of members: of one that has come without what it was to send. */
#define WSH_REQ_LOST (UINT64_C(1) << 46)

/* A part of a collective. Called again while it returns -EAGAIN; keeps in `req` how far it is. */
typedef int wsh_req_phase(struct wsh_req *req);

/* Phases, and NULL behind them. */
struct wsh_req_steps {
    wsh_req_phase *const *phases;
    bool syncs; /* once it is complete here, all members have begun it */
};

enum wsh_req_state { WSH_REQ_FREE, WSH_REQ_OPEN, WSH_REQ_ENDED };

struct wsh_req {
    struct wsh_req *next; /* in the queue of its team */
    struct wsh_req_team *of;
    struct wsh_team *team;
    const char *routine;
    enum wsh_req_kind kind;
    const struct wsh_req_steps *steps;
    struct wsh_req_args args;
    enum wsh_req_state state; /* release: what it has received. Partner: the acquire of wsh_req_test */
    int status;
    bool own;          /* begun by the library, which frees it */
    bool helped;       /* the progress thread has been asked for help */
    uint64_t number;   /* in the team, from 1 on */
    uint64_t exchange; /* of an alltoallv: its number among those */

    /* How far it is. */
    int phase;            /* relaxed: reports read it without the lock */
    bool moved;           /* since it was last looked at */
    bool starts;          /* its phases run for the first time */
    bool cells;           /* its blocks come in cells: alike at all members */
    int k, round;         /* in a phase: members done, rounds done */
    long distance;        /* of a sync: how far apart members of this round are */
    size_t at;            /* bytes or blocks done */
    uint64_t sum;         /* of a collect: lengths of the members below and me */
    bool lost;            /* a block has had no room */
    struct wsh_done done; /* what it has begun and may still be read or written here */
    size_t need, direct;  /* of an alltoallv: where blocks end; blocks that come without a cell */
    bool refuses;         /* they do not fit */
    char *scratch;
    const void **theirs; /* of a reduction: where numbers of a batch are */
    int batch;
    struct wsh_left left; /* what its tests have seen of PEs that will not come */
    _Alignas(WSH_LL_ALIGN) char small[WSH_REQ_LINE_DATA];
};

/* What a team keeps. */
struct wsh_req_team {
    struct wsh_team *team;
    struct wsh_req_team *next;                  /* in job->requests */
    struct wsh_req *running[WSH_REQ_IN_FLIGHT]; /* by number */
    struct wsh_req *first, **last;              /* queued, in order */
    uint64_t numbered, synced;                  /* numbers given; the last of a kind that syncs */
    uint64_t known;     /* the last of those that is complete here: all members have begun it */
    uint64_t exchanges; /* of alltoallv */
    bool exchanging;
    int open;            /* not complete */
    int helped;          /* of these, those with which a progress thread helps */
    int failed;          /* the status of the first that failed: no further one is tried */
    int held;            /* not freed by the program */
    const char *routine; /* of the one begun last */
    uint64_t
        arrived[WSH_REQ_SLOTS * WSH_REQ_COUNTERS]; /* of all counters, in collectives that are complete */
};

/* Of a job. */
struct wsh_requests {
    pthread_mutex_t lock; /* of all below, and of all that requests do: request.c takes it */
    bool entered;         /* somebody is in here, */
    bool locked;          /* and holds the lock */
    struct wsh_ctx ctx;   /* numbers are the job's */
    bool ready;           /* ctx is open */
    uint32_t failures;    /* the launcher's count when the teams were looked at last */
    struct wsh_req_team *teams;
};

/* Offset in the sync area of a request's slot, of a counter, of a member's word and of a line there. */
static inline size_t wsh_req_slot(const struct wsh_req *req)
{
    const struct wsh_sync_area *area = &req->team->coll->area;

    return area->requests + req->number % WSH_REQ_SLOTS * area->request_len;
}

static inline bool wsh_req_has_words(const struct wsh_req *req)
{
    return req->team->n_pes <= WSH_REQ_WORDS_MAX;
}

static inline size_t wsh_req_counter(const struct wsh_req *req, int counter)
{
    return req->team->coll->area.cells +
           (req->number % WSH_REQ_SLOTS * WSH_REQ_COUNTERS + (unsigned)counter) * sizeof(uint64_t);
}

/* Of the cell of a member: a short block, then the word of data. */
static inline size_t wsh_req_cell(const struct wsh_req *req, int member)
{
    const struct wsh_sync_area *area = &req->team->coll->area;

    return area->cells + (size_t)member * area->request_cells + req->number % WSH_REQ_SLOTS * WSH_REQ_CELL;
}

static inline size_t wsh_req_word(const struct wsh_req *req, int counter, int member)
{
    const struct wsh_sync_area *area = &req->team->coll->area;

    if (counter == WSH_REQ_DATA)
        return wsh_req_cell(req, member) + sizeof(uint64_t);
    return area->cells + (size_t)member * area->request_cells + WSH_REQ_SLOTS * WSH_REQ_CELL +
           req->number % WSH_REQ_SLOTS * sizeof(uint64_t);
}

static inline size_t wsh_req_line(const struct wsh_req *req, int line)
{
    return wsh_req_slot(req) + (size_t)line * WSH_SYNC_AREA_LINE;
}

/* Of the two words of a line. */
static inline size_t wsh_req_flag(const struct wsh_req *req, int line, int word)
{
    return wsh_req_line(req, line) + (size_t)word * sizeof(uint64_t);
}

static inline size_t wsh_req_data(const struct wsh_req *req, int line)
{
    return wsh_req_line(req, line) + 2 * sizeof(uint64_t);
}

/* Acquire: partner of the release in the member's put_signal or atomic. */
static inline uint64_t wsh_req_load(const struct wsh_req *req, size_t off)
{
    return __atomic_load_n((const uint64_t *)(req->team->coll->base + off), __ATOMIC_ACQUIRE);
}

/* The member k places behind me, 0 <= k <= n. */
static inline int wsh_req_behind(const struct wsh_req *req, long k)
{
    return (int)((req->team->my_pe + k) % req->team->n_pes);
}

/* `n` members have counted. 0, once for a counter and collective; -ECANCELED: one of them has lost; else -EAGAIN. */
static inline int wsh_req_arrived(struct wsh_req *req, int counter, uint64_t n)
{
    uint64_t *arrived = &req->of->arrived[req->number % WSH_REQ_SLOTS * WSH_REQ_COUNTERS + (unsigned)counter];
    uint64_t set = 0, lost = 0, value;

    if (wsh_req_has_words(req)) {
        for (int member = 0; member < req->team->n_pes && set + lost < n; member++) {
            value = wsh_req_load(req, wsh_req_word(req, counter, member));
            set += value == req->number;
            lost += value == (req->number | WSH_REQ_LOST);
        }
        return set == n ? 0 : set + lost < n ? -EAGAIN : -ECANCELED;
    }
    value = wsh_req_load(req, wsh_req_counter(req, counter));
    if (value % WSH_REQ_LOST < *arrived + n)
        return -EAGAIN;
    *arrived += n;
    return value >= WSH_REQ_LOST ? -ECANCELED : 0;
}

/*
 * The same of what ends a request: as it starts nobody looks at lines that its peers are writing at that time, which
 * would take them away from those.
 */
static inline int wsh_req_all_arrived(struct wsh_req *req, int counter, uint64_t n)
{
    return req->starts && n ? -EAGAIN : wsh_req_arrived(req, counter, n);
}

/* The line's word has been set by this collective. */
static inline int wsh_req_shown(const struct wsh_req *req, int line, int word)
{
    return wsh_req_load(req, wsh_req_flag(req, line, word)) == req->number ? 0 : -EAGAIN;
}

static inline int wsh_req_is_sent(const struct wsh_req *req)
{
    return wsh_done_is(&req->done) ? 0 : -EAGAIN;
}

#endif
