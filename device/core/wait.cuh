/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting in device code for one word: a thread or one warp polls it relaxed and acquires once the comparison holds;
 * the others wait at the scope's barrier. A warp polls in one access of all lanes and so never diverges: converging
 * again after a loop of one lane costs 280 cycles (H200). A wait that lasts too long leaves a record for the host's
 * hang reporter and goes on.
 */
#ifndef WSH_DEVICE_WAIT_CUH
#define WSH_DEVICE_WAIT_CUH

#include "../proxy/inbox.cuh"
#include "put.cuh"

/* Words are compared as one of six types, whatever their C type is called. */
template <unsigned WIDTH, bool SIGNED> struct wsh_dev_word_of;
template <> struct wsh_dev_word_of<2, true> {
    typedef int16_t type;
};
template <> struct wsh_dev_word_of<2, false> {
    typedef uint16_t type;
};
template <> struct wsh_dev_word_of<4, true> {
    typedef int32_t type;
};
template <> struct wsh_dev_word_of<4, false> {
    typedef uint32_t type;
};
template <> struct wsh_dev_word_of<8, true> {
    typedef int64_t type;
};
template <> struct wsh_dev_word_of<8, false> {
    typedef uint64_t type;
};
template <class T> using wsh_dev_word = typename wsh_dev_word_of<sizeof(T), (T(-1) < T(0))>::type;

/* Whether `seen cmp value` holds. Accepted are three bits for each cmp, in SHMEM_CMP_'s order: less, equal, greater. */
template <class W> static WSH_DEV bool wsh_dev_satisfies(W seen, int cmp, W value)
{
    const uint32_t less = 1, equal = 2, greater = 4;
    const uint32_t accepted = equal | (less | greater) << 3 | greater << 6 | (less | equal) << 9 | less << 12 |
                              (greater | equal) << 15;

    return accepted >> 3 * cmp & (seen < value ? less : seen == value ? equal : greater);
}

template <class W> static WSH_DEV W wsh_dev_word_poll(const W *word)
{
    return (W)wsh_ptx_poll((const wsh_dev_bits<W> *)word);
}

static WSH_DEV void wsh_dev_check_cmp(const char *what, int cmp)
{
    if (wsh_dev_checks() && (unsigned)cmp > 5)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_VALUE, -1, nullptr, (uint64_t)(int64_t)cmp);
}

/* A word that this PE waits for, and how it is compared. */
inline WSH_DEV_CALL void wsh_dev_check_wait_any(const char *what, const void *word, uint64_t len, int cmp)
{
    wsh_dev_check_own(what, word, len);
    wsh_dev_check_cmp(what, cmp);
}

static WSH_DEV void wsh_dev_check_wait(const char *what, const void *word, uint64_t len, int cmp)
{
    if (wsh_dev_checks())
        wsh_dev_check_wait_any(what, word, len, cmp);
}

/* A wait, and how often it has polled. */
struct wsh_dev_patience {
    struct wsh_dev_wait wait;
    uint32_t polls;
};

/* A wait's turn for all that is not polling. It passes a copy, so that the wait itself stays in registers. */
static WSH_DEV void wsh_dev_wait_turn(struct wsh_dev_wait *wait)
{
    struct wsh_dev_wait passed = *wait;

    if (SHMEMX_ONE_HOST)
        wsh_dev_long_wait(&passed);
    else
        wsh_dev_wait_idle(&passed);
    wait->since = passed.since;
}

/* Called after each poll that did not satisfy. */
static WSH_DEV void wsh_dev_wait_longer(struct wsh_dev_patience *patience)
{
    if (!(++patience->polls & wsh_device_view.poll_mask))
        wsh_dev_wait_turn(&patience->wait);
}

/* As below, out of line, when the wait has taken so many polls already. */
template <class W> WSH_DEV_CALL W wsh_dev_poll_long(const struct wsh_dev_wait &asked)
{
    struct wsh_dev_wait wait = asked;
    struct wsh_dev_patience patience = {wait, wsh_device_view.poll_mask};
    const W *at = (const W *)wait.word;
    W seen = 0;

    do {
        wsh_dev_wait_longer(&patience);
        seen = wsh_dev_word_poll(at);
    } while (!wsh_dev_satisfies(seen, wait.cmp, (W)wait.value));
    wsh_ptx_acquire();
    return seen;
}

/*
 * Polls until the word satisfies, and returns its value. What its writer released before is visible to this lane. The
 * acquire is in the loop, under the comparison's predicate: behind it, lanes would have to converge twice.
 */
template <class W> static WSH_DEV W wsh_dev_poll_until(const char *what, const W *word, int cmp, W value)
{
    const W *at = wsh_ptx_in_register(word);
    unsigned left = wsh_device_view.poll_mask + 1;
    bool holds;
    W seen;

    do {
        seen = wsh_dev_word_poll(at);
        holds = wsh_dev_satisfies(seen, cmp, value);
        holds = wsh_ptx_acquire_if(holds);
        left--;
    } while (!holds && left);
    return holds ? seen : wsh_dev_poll_long<W>(wsh_dev_wait{what, word, (uint64_t)value, cmp, 0});
}

/* Whether this lane polls: one thread, a warp, or the first warp of a block. */
template <int S> static WSH_DEV bool wsh_dev_is_poller()
{
    return S != WSH_BLOCK || wsh_dev_thread() < 32;
}

template <int S, class T> static WSH_DEV void wsh_dev_wait_until(const char *what, const T *ivar, int cmp, T value)
{
    typedef wsh_dev_word<T> W;

    wsh_dev_check_wait(what, ivar, sizeof *ivar, cmp);
    if (wsh_dev_is_poller<S>())
        wsh_dev_poll_until<W>(what, (const W *)ivar, cmp, (W)value);
    wsh_dev_sync<S>();
}

template <int S, class T> static WSH_DEV int wsh_dev_test(const char *what, const T *ivar, int cmp, T value)
{
    typedef wsh_dev_word<T> W;
    bool holds = false;

    wsh_dev_check_wait(what, ivar, sizeof *ivar, cmp);
    if (wsh_dev_is_poller<S>())
        holds = wsh_dev_satisfies(wsh_dev_word_poll((const W *)ivar), cmp, (W)value);
    if (holds)
        wsh_ptx_acquire();
    return wsh_dev_any_lane<S>(holds);
}

/* Returns lane 0's `seen` in all lanes of the block; a barrier. Mostly it is `likely`, which each lane knows. */
static WSH_DEV uint64_t wsh_dev_block_share(uint64_t seen, uint64_t likely)
{
    if (!wsh_dev_any_lane<WSH_BLOCK>(wsh_dev_thread() == 0 && seen != likely))
        return likely;
    return (uint64_t)wsh_dev_broadcast<WSH_BLOCK>((uint32_t)(seen >> 32), 0xffffffffu) << 32 |
           wsh_dev_broadcast<WSH_BLOCK>((uint32_t)seen, 0xffffffffu);
}

template <int S>
static WSH_DEV uint64_t wsh_dev_signal_wait_until(const char *what, const uint64_t *word, int cmp, uint64_t value)
{
    uint64_t seen = value;

    wsh_dev_check_wait(what, word, sizeof *word, cmp);
    if (wsh_dev_is_poller<S>())
        seen = wsh_dev_poll_until<uint64_t>(what, word, cmp, value);
    if (S == WSH_BLOCK)
        return wsh_dev_block_share(seen, value);
    wsh_dev_sync<S>();
    return S == WSH_WARP ? wsh_ptx_from_leader(seen) : seen;
}

static WSH_DEV uint64_t wsh_dev_signal_fetch(const char *what, const uint64_t *word)
{
    uint64_t seen;

    wsh_dev_check_own(what, word, sizeof *word);
    seen = wsh_dev_word_poll(word);
    wsh_ptx_acquire();
    return seen;
}

#endif
