/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparisons of words and the scans of sets behind the wait_until and test families. */
#include "runtime/op/wait_words.h"

#include "base/atomic.h"
#include "base/process/symbol.h"
#include "runtime/job/job.h"
#include "runtime/wait/poll.h"
#include "runtime/wait/wait.h"

#include <stdio.h>

/* Maps words of every kind to unsigned numbers in the same order. */
static uint64_t word_rank(enum wsh_word kind, uint64_t word)
{
    const uint64_t sign = (uint64_t)1 << 63;

    switch (kind) {
    case WSH_WORD_I16: return (uint64_t)(int64_t)(int16_t)word ^ sign;
    case WSH_WORD_U16: return (uint16_t)word;
    case WSH_WORD_I32: return (uint64_t)(int64_t)(int32_t)word ^ sign;
    case WSH_WORD_U32: return (uint32_t)word;
    case WSH_WORD_I64: return word ^ sign;
    default: return word;
    }
}

static bool words_compare(enum wsh_word kind, enum wsh_cmp cmp, uint64_t word, uint64_t value)
{
    uint64_t a = word_rank(kind, word), b = word_rank(kind, value);

    switch (cmp) {
    case WSH_CMP_EQ: return a == b;
    case WSH_CMP_NE: return a != b;
    case WSH_CMP_GT: return a > b;
    case WSH_CMP_LE: return a <= b;
    case WSH_CMP_LT: return a < b;
    default: return a >= b;
    }
}

/* Acquire: what a peer stored before the word is seen after it. Partner: the release of its put_signal, p or atomic. */
static uint64_t load_word(const struct wsh_p2p *p2p, size_t i)
{
    switch (wsh_word_width(p2p->word)) {
    case 8: return __atomic_load_n((const uint64_t *)p2p->ivars + i, __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const uint32_t *)p2p->ivars + i, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const uint16_t *)p2p->ivars + i, __ATOMIC_ACQUIRE);
    }
}

static uint64_t value_of(const struct wsh_p2p *p2p, size_t i)
{
    switch (wsh_word_width(p2p->word)) {
    case 8: return ((const uint64_t *)p2p->values)[i];
    case 4: return ((const uint32_t *)p2p->values)[i];
    default: return ((const uint16_t *)p2p->values)[i];
    }
}

static bool word_satisfies(const struct wsh_p2p *p2p, size_t i)
{
    uint64_t word = load_word(p2p, i);

    wsh_order_returns(); /* by a word that the NIC or its library has stored */
    return words_compare(p2p->word, p2p->cmp, word, value_of(p2p, p2p->every ? i : 0));
}

/* The same of a signal, whose value the caller wants. */
static inline bool signal_satisfies(const struct wsh_p2p *p2p, uint64_t *seen)
{
    *seen = __atomic_load_n((const uint64_t *)p2p->ivars, __ATOMIC_ACQUIRE);
    wsh_order_returns();
    return words_compare(WSH_WORD_U64, p2p->cmp, *seen, *(const uint64_t *)p2p->values);
}

static bool in_set(const struct wsh_p2p *p2p, size_t i)
{
    return !p2p->status || !p2p->status[i];
}

static bool is_empty(const struct wsh_p2p *p2p)
{
    for (size_t i = 0; i < p2p->nelems; i++)
        if (in_set(p2p, i))
            return false;
    return true;
}

/* A wait in progress: what is waited for, and what it found. */
struct scan {
    const struct wsh_p2p *p2p;
    size_t first; /* all: words before it are satisfied; any: where the search begins */
    size_t n, *indices;
    union {
        size_t index;
        uint64_t seen; /* of a signal. A word more would be an instruction more in each wait */
    };
};

static int try_one(void *arg)
{
    const struct scan *scan = arg;

    return word_satisfies(scan->p2p, 0) ? 0 : -EAGAIN;
}

static int try_signal(void *arg)
{
    struct scan *scan = arg;

    return signal_satisfies(scan->p2p, &scan->seen) ? 0 : -EAGAIN;
}

static int try_all(void *arg)
{
    struct scan *scan = arg;

    for (; scan->first < scan->p2p->nelems; scan->first++)
        if (in_set(scan->p2p, scan->first) && !word_satisfies(scan->p2p, scan->first))
            return -EAGAIN;
    return 0;
}

static int try_any(void *arg)
{
    struct scan *scan = arg;
    const struct wsh_p2p *p2p = scan->p2p;

    for (size_t k = 0; k < p2p->nelems; k++) {
        size_t i = scan->first + k < p2p->nelems ? scan->first + k : scan->first + k - p2p->nelems;

        if (in_set(p2p, i) && word_satisfies(p2p, i)) {
            scan->index = i;
            return 0;
        }
    }
    return -EAGAIN;
}

static int try_some(void *arg)
{
    struct scan *scan = arg;

    for (size_t i = 0; i < scan->p2p->nelems; i++)
        if (in_set(scan->p2p, i) && word_satisfies(scan->p2p, i))
            scan->indices[scan->n++] = i;
    return scan->n ? 0 : -EAGAIN;
}

/* The word's number, for a line of text. */
static long long word_signed(enum wsh_word kind, uint64_t word)
{
    const unsigned unused = 64 - 8 * (unsigned)wsh_word_width(kind);

    return (long long)(word << unused) >> unused;
}

static void scan_describe(void *arg, char *text, size_t size)
{
    static const char *const signs[WSH_CMPS] = {"==", "!=", ">", "<=", "<", ">="};
    const struct scan *scan = arg;
    const struct wsh_p2p *p2p = scan->p2p;
    size_t i = scan->first < p2p->nelems ? scan->first : 0;
    const void *at = (const char *)p2p->ivars + i * wsh_word_width(p2p->word);
    char name[128];

    wsh_symbol_name(at, name, sizeof name);
    snprintf(text, size, "a peer's store to %p%s%s: it holds %lld, wanted %s %lld", at, name,
             p2p->nelems > 1 ? " (or others of its set)" : "", word_signed(p2p->word, load_word(p2p, i)),
             signs[p2p->cmp], word_signed(p2p->word, value_of(p2p, p2p->every ? i : 0)));
}

static int wait_for(struct wsh_job *job, wsh_wait_try try, struct scan *scan)
{
    const struct wsh_wait_why why = {scan->p2p->routine, scan_describe};

    return wsh_wait(job, &why, try, scan);
}

/*
 * Starts each search elsewhere: always starting at the first word would starve the last one, and a fixed step would
 * starve every second word of a program that alternates between two sets.
 */
static size_t fair_start(size_t nelems)
{
    static _Thread_local uint32_t turn;

    turn = turn * 1664525u + 1013904223u;
    return nelems ? (turn >> 8) % nelems : 0;
}

WSH_NO_ARRAYS int wsh_p2p_wait(struct wsh_job *job, const struct wsh_p2p *p2p)
{
    struct scan scan = {.p2p = p2p};

    return word_satisfies(p2p, 0) ? 0 : wait_for(job, try_one, &scan);
}

WSH_NO_ARRAYS int wsh_p2p_wait_signal(struct wsh_job *job, const struct wsh_p2p *p2p, uint64_t *seen)
{
    struct scan scan = {.p2p = p2p};
    int rc;

    if (signal_satisfies(p2p, seen))
        return 0;
    rc = wait_for(job, try_signal, &scan);
    *seen = scan.seen;
    return rc;
}

/* A test that fails serves peers, so that a loop of tests makes progress under SHMEM_PROGRESS=call too. */
static __attribute__((noinline)) bool test_again(struct wsh_job *job, wsh_wait_try try, struct scan *scan)
{
    wsh_wait_progress(job);
    if (try(scan) == 0)
        return true;
    wsh_poll_failed(job);
    return false;
}

/* Else nothing but a peer's store into this PE's memory is waited for. */
static inline bool may_progress(const struct wsh_job *job)
{
    return wsh_job_is_special(job, WSH_SPECIAL_NETWORK | WSH_SPECIAL_BATCH | WSH_SPECIAL_DEVICE |
                                       WSH_SPECIAL_REQUESTS);
}

static inline bool test_with_progress(struct wsh_job *job, wsh_wait_try try, struct scan *scan)
{
    if (try(scan) == 0)
        return true;
    if (wsh_unlikely(may_progress(job)))
        return test_again(job, try, scan);
    wsh_poll_failed(job);
    return false;
}

static __attribute__((noinline)) bool test_one_again(struct wsh_job *job, const struct wsh_p2p *p2p)
{
    struct scan scan = {.p2p = p2p};

    return test_again(job, try_one, &scan);
}

/* One word needs no scan on the stack, unless peers are to be served. */
WSH_NO_ARRAYS bool wsh_p2p_test(struct wsh_job *job, const struct wsh_p2p *p2p)
{
    if (word_satisfies(p2p, 0))
        return true;
    if (wsh_unlikely(may_progress(job)))
        return test_one_again(job, p2p);
    wsh_poll_failed(job);
    return false;
}

int wsh_p2p_wait_all(struct wsh_job *job, const struct wsh_p2p *p2p)
{
    struct scan scan = {.p2p = p2p};

    return wait_for(job, try_all, &scan);
}

int wsh_p2p_wait_any(struct wsh_job *job, const struct wsh_p2p *p2p, size_t *index)
{
    struct scan scan = {.p2p = p2p, .first = fair_start(p2p->nelems), .index = WSH_P2P_NONE};
    int rc = is_empty(p2p) ? 0 : wait_for(job, try_any, &scan);

    *index = scan.index;
    return rc;
}

int wsh_p2p_wait_some(struct wsh_job *job, const struct wsh_p2p *p2p, size_t *indices, size_t *n)
{
    struct scan scan = {.p2p = p2p, .indices = indices};
    int rc = is_empty(p2p) ? 0 : wait_for(job, try_some, &scan);

    *n = scan.n;
    return rc;
}

bool wsh_p2p_test_all(struct wsh_job *job, const struct wsh_p2p *p2p)
{
    struct scan scan = {.p2p = p2p};

    return test_with_progress(job, try_all, &scan);
}

size_t wsh_p2p_test_any(struct wsh_job *job, const struct wsh_p2p *p2p)
{
    struct scan scan = {.p2p = p2p, .first = fair_start(p2p->nelems), .index = WSH_P2P_NONE};

    return test_with_progress(job, try_any, &scan) ? scan.index : WSH_P2P_NONE;
}

size_t wsh_p2p_test_some(struct wsh_job *job, const struct wsh_p2p *p2p, size_t *indices)
{
    struct scan scan = {.p2p = p2p, .indices = indices};

    test_with_progress(job, try_some, &scan);
    return scan.n;
}

/* A wait with a limit. */
struct timed {
    struct wsh_job *job;
    struct scan *scan;
    wsh_wait_try try;
    unsigned tries;
    double until;
    uint32_t generation; /* when it began */
};

#define TIMED_TRIES 64 /* before the first look at the clock: most waits end sooner */

/* What was there before the news stays. */
static int try_timed(void *arg)
{
    struct timed *timed = arg;
    int rc = timed->try(timed->scan);

    if (rc != -EAGAIN || ++timed->tries < TIMED_TRIES)
        return rc;
    if (wsh_failures_generation(timed->job) != timed->generation)
        return timed->try(timed->scan) ? -ECANCELED : 0;
    return wsh_wait_now() < timed->until ? -EAGAIN : -ETIMEDOUT;
}

static void timed_describe(void *arg, char *text, size_t size)
{
    scan_describe(((const struct timed *)arg)->scan, text, size);
}

static int wait_timed(struct timed *timed, double seconds)
{
    const struct wsh_wait_why why = {timed->scan->p2p->routine, timed_describe};

    if (timed->try(timed->scan) == 0)
        return 0;
    if (!(seconds > 0))
        return test_again(timed->job, timed->try, timed->scan) ? 0 : -ETIMEDOUT;
    timed->until = wsh_wait_now() + seconds;
    return wsh_wait(timed->job, &why, try_timed, timed);
}

int wsh_p2p_wait_timed(struct wsh_job *job, const struct wsh_p2p *p2p, struct wsh_p2p_limit *limit)
{
    static const wsh_wait_try tries[WSH_P2P_KINDS] = {try_one, try_signal, try_all, try_any, try_some};
    struct scan scan = {.p2p = p2p, .index = WSH_P2P_NONE, .indices = limit->indices};
    struct timed timed = {job, &scan, tries[limit->kind], 0, 0, wsh_failures_generation(job)};
    const bool searches = limit->kind == WSH_P2P_ANY || limit->kind == WSH_P2P_SOME;
    int rc;

    if (limit->kind == WSH_P2P_ANY)
        scan.first = fair_start(p2p->nelems);
    rc = searches && is_empty(p2p) ? 0 : wait_timed(&timed, limit->seconds);
    limit->found = limit->kind == WSH_P2P_SIGNAL ? scan.seen
                   : limit->kind == WSH_P2P_ANY  ? scan.index
                                                 : scan.n;
    return rc;
}
