/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits with a time limit in device code, which also end when a PE has failed. Words of all types go through the same
 * loops, by one thread or the first warp of a scope: nothing here is sooner than it must be.
 */
#ifndef WSH_DEVICE_WAIT_TIMED_CUH
#define WSH_DEVICE_WAIT_TIMED_CUH

#include "../core/counter.cuh"
#include "../core/wait_sets.cuh"

#define WSH_TIMED_POLLS 64u /* vain looks between two at the clock */

/* As shmem/timeout.h says, which may be read after this file. */
enum wsh_timed_result { WSH_TIMED_SATISFIED, WSH_TIMED_OVER, WSH_TIMED_FAILURE };

enum wsh_timed_kind { WSH_TIMED_ALL, WSH_TIMED_ANY, WSH_TIMED_SOME };

/* The words of a wait, or a counter; `width` bytes each, with or without sign. `values`: an array of one for each. */
struct wsh_dev_timed_words {
    const char *what;
    const char *words;
    size_t n;
    const int *status;
    const char *values; /* or NULL */
    uint64_t value;
    double seconds;
    int cmp;
    uint32_t width, is_signed, kind;
    uint32_t counter; /* its number + 1; 0: words */
};

/* What it found: how many, or which. */
struct wsh_dev_timed_found {
    uint64_t n; /* of SOME: how many; of ANY: which; `n` of the set: none */
    bool over, any;
};

/* When it ends. */
struct wsh_dev_limit {
    uint64_t until, generation; /* in ns; 0: at once */
};

template <class T> WSH_DEV constexpr bool wsh_dev_is_signed()
{
    return T(-1) < T(0);
}

static WSH_DEV uint64_t wsh_dev_timed_extend(uint64_t bits, uint32_t width, uint32_t is_signed)
{
    uint32_t unused = 64 - 8 * width;

    return is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
}

static WSH_DEV uint64_t wsh_dev_timed_poll(const struct wsh_dev_timed_words &wait, size_t i)
{
    const char *at = wait.words + i * wait.width;

    return wait.width == 8   ? wsh_ptx_poll((const uint64_t *)at)
           : wait.width == 4 ? wsh_ptx_poll((const uint32_t *)at)
                             : wsh_ptx_poll((const uint16_t *)at);
}

static WSH_DEV uint64_t wsh_dev_timed_value(const struct wsh_dev_timed_words &wait, size_t i)
{
    const char *at = wait.values + i * wait.width;

    if (!wait.values)
        return wait.value;
    return wait.width == 8 ? *(const uint64_t *)at : wait.width == 4 ? *(const uint32_t *)at : *(const uint16_t *)at;
}

static WSH_DEV bool wsh_dev_timed_is_member(const struct wsh_dev_timed_words &wait, size_t i)
{
    return i < wait.n && !(wait.status && wait.status[i]);
}

static WSH_DEV bool wsh_dev_timed_holds(const struct wsh_dev_timed_words &wait, size_t i)
{
    uint64_t seen, value;

    if (wait.counter)
        return wsh_dev_counter_poll(wait.counter - 1) >= wait.value;
    seen = wsh_dev_timed_extend(wsh_dev_timed_poll(wait, i), wait.width, wait.is_signed);
    value = wsh_dev_timed_extend(wsh_dev_timed_value(wait, i), wait.width, wait.is_signed);
    return wait.is_signed ? wsh_dev_satisfies((int64_t)seen, wait.cmp, (int64_t)value)
                          : wsh_dev_satisfies(seen, wait.cmp, value);
}

/* Those in the set among the words from `base` on that are looked at together, and those of them that hold. */
template <int S>
static WSH_DEV struct wsh_dev_seen wsh_dev_timed_see(const struct wsh_dev_timed_words &wait, size_t base)
{
    size_t i = base + (S == WSH_THREAD ? 0 : wsh_ptx_lane());
    bool member = wsh_dev_timed_is_member(wait, i), holds = member && wsh_dev_timed_holds(wait, i);

    if constexpr (S == WSH_THREAD)
        return wsh_dev_seen{member, holds};
    else
        return wsh_dev_seen{__ballot_sync(wsh_dev_warp_mask(), member), __ballot_sync(wsh_dev_warp_mask(), holds)};
}

/* Writes what holds, of SOME; one look at all words. From `from` on, of ANY, so that none is passed over for ever. */
template <int S>
WSH_DEV_CALL void wsh_dev_timed_look(const struct wsh_dev_timed_words &wait, size_t from, size_t *indices,
                                     struct wsh_dev_timed_found *found)
{
    unsigned span = S == WSH_THREAD ? 1 : wsh_dev_warp_threads();
    bool all = true, any = false;

    found->n = wait.kind == WSH_TIMED_ANY ? wait.n : 0;
#pragma unroll 1
    for (size_t looked = 0, base = from; looked < wait.n;
         looked += span, base = base + span < wait.n ? base + span : 0) {
        struct wsh_dev_seen seen = wsh_dev_timed_see<S>(wait, base);

        any |= seen.members != 0;
        all &= seen.members == seen.holding;
        if (wait.kind == WSH_TIMED_ALL && !all)
            break;
        if (wait.kind == WSH_TIMED_ANY && seen.holding) {
            found->n = base + (size_t)__ffs((int)seen.holding) - 1;
            break;
        }
        if (wait.kind == WSH_TIMED_SOME) {
            wsh_dev_list_bits<S>(indices + found->n, base, seen.holding);
            found->n += (uint64_t)__popc(seen.holding);
        }
    }
    found->any = any;
    found->over = wait.kind == WSH_TIMED_ALL ? all
                  : !any                     ? true
                  : wait.kind == WSH_TIMED_ANY ? found->n < wait.n
                                               : found->n > 0;
}

static WSH_DEV struct wsh_dev_limit wsh_dev_limit_of(double seconds)
{
    struct wsh_dev_limit limit = {0, wsh_dev_generation()};

    if (seconds > 0)
        limit.until = wsh_ptx_nanoseconds() + (seconds < 1e9 ? (uint64_t)(seconds * 1e9) : (uint64_t)1 << 62);
    return limit;
}

/* What else a wait does now and then. 0, or what the wait returns. */
inline WSH_DEV_CALL int wsh_dev_limit_look(struct wsh_dev_wait *wait, const struct wsh_dev_limit &limit)
{
    if (SHMEMX_ONE_HOST)
        wsh_dev_long_wait(wait);
    else
        wsh_dev_wait_idle(wait);
    if (wsh_dev_generation() != limit.generation)
        return WSH_TIMED_FAILURE;
    return wsh_ptx_nanoseconds() >= limit.until ? WSH_TIMED_OVER : 0;
}

/* By one thread, or all lanes of a warp: the same in all. What holds when the news is seen counts. */
template <int S>
WSH_DEV_CALL int wsh_dev_timed_wait(const struct wsh_dev_timed_words &wait, size_t *indices, uint64_t *n)
{
    struct wsh_dev_wait as = {wait.what, wait.words, wait.value, wait.cmp, 0};
    struct wsh_dev_limit limit = wsh_dev_limit_of(wait.seconds);
    struct wsh_dev_timed_found found = {0, false, false};
    int over = 0;

    for (unsigned polls = 1;; polls++) {
        size_t from = wait.kind == WSH_TIMED_ANY && wait.n ? (size_t)wsh_dev_first_poll<S>(wait.n) : 0;

        wsh_dev_timed_look<S>(wait, from - from % (S == WSH_THREAD ? 1 : wsh_dev_warp_threads()), indices, &found);
        if (found.over || over)
            break;
        if (limit.until && polls % WSH_TIMED_POLLS)
            continue;
        over = wsh_dev_limit_look(&as, limit);
        if (S != WSH_THREAD)
            over = (int)wsh_ptx_from_leader((uint64_t)over);
    }
    wsh_ptx_acquire();
    *n = found.n;
    return found.over ? WSH_TIMED_SATISFIED : over;
}

static WSH_DEV void wsh_dev_timed_check(const struct wsh_dev_timed_words &wait)
{
    if (!wait.n || wait.counter || !wsh_dev_checks())
        return;
    wsh_dev_check_word(wait.what, wait.words, wait.width);
    wsh_dev_check_symmetric(wait.what, wait.words, wait.n * wait.width);
    wsh_dev_check_cmp(wait.what, wait.cmp);
}

/* The shells' side. Every thread of the scope gets the result, and writes *n: the same. */
template <int S> WSH_DEV_CALL int wsh_dev_timed(const struct wsh_dev_timed_words &wait, size_t *indices, size_t *n)
{
    uint64_t found = 0;
    int result = 0;

    wsh_dev_timed_check(wait);
    wsh_dev_sync<S>();
    if (wsh_dev_is_poller<S>())
        result = wsh_dev_timed_wait<(S == WSH_THREAD ? WSH_THREAD : WSH_WARP)>(wait, indices, &found);
    result = (int)wsh_dev_broadcast<S>((uint32_t)result, 3);
    found = wsh_dev_broadcast<S>((uint32_t)found, (uint32_t)wait.n);
    if (n)
        *n = wait.kind == WSH_TIMED_ANY && found >= wait.n ? (size_t)-1 : (size_t)found;
    return result;
}

template <int S>
static WSH_DEV int wsh_dev_counter_timed(const char *what, shmemx_counter_t counter, uint64_t value, double seconds)
{
    uint32_t number = wsh_dev_counter_number(what, counter);

    return wsh_dev_timed<S>(wsh_dev_timed_words{what, (const char *)wsh_dev_counter_device(number), 1, nullptr, nullptr,
                                                value, seconds, SHMEM_CMP_GE, sizeof(uint64_t), 0, WSH_TIMED_ALL,
                                                number + 1},
                            nullptr, nullptr);
}

/* A signal: *value is what it held last. */
template <int S> static WSH_DEV int wsh_dev_signal_timed(const struct wsh_dev_timed_words &wait, uint64_t *value)
{
    int result = wsh_dev_timed<S>(wait, nullptr, nullptr);

    if (value)
        *value = wsh_dev_word_poll((const uint64_t *)wait.words);
    return result;
}

#endif
