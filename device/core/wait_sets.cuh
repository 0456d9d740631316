/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting in device code for sets of words: a warp polls as many at once as it has lanes, a single thread eight, and
 * the first warp of a block polls for the block.
 */
#ifndef WSH_DEVICE_WAIT_SETS_CUH
#define WSH_DEVICE_WAIT_SETS_CUH

#include "wait.cuh"

/*
 * ivars[i] is in the set where status is NULL or status[i] == 0, and is compared with value, or with values[i] where
 * values is not NULL. Fewer than 2^32 - 1 words.
 */
template <class W> struct wsh_dev_set {
    const char *what;
    const W *ivars;
    size_t nelems;
    const int *status;
    int cmp;
    W value;
    const W *values;
};

/* Of the words from a first one on, a bit each: those in the set, and those of them that satisfy. */
struct wsh_dev_seen {
    uint32_t members, holding;
};

#define WSH_POLLS_ALONE 8 /* words in flight of a thread that looks alone */

/* Words looked at together. */
template <int S> static WSH_DEV unsigned wsh_dev_span_of_poll()
{
    return S == WSH_THREAD ? WSH_POLLS_ALONE : wsh_dev_warp_threads();
}

template <class W> static WSH_DEV bool wsh_dev_is_member(const struct wsh_dev_set<W> &set, size_t i)
{
    return i < set.nelems && !(set.status && set.status[i]);
}

template <class W> static WSH_DEV bool wsh_dev_word_holds(const struct wsh_dev_set<W> &set, size_t i, W seen)
{
    return wsh_dev_satisfies(seen, set.cmp, set.values ? set.values[i] : set.value);
}

template <class W> static WSH_DEV struct wsh_dev_seen wsh_dev_see_alone(const struct wsh_dev_set<W> &set, size_t base)
{
    struct wsh_dev_seen seen = {0, 0};
    W word[WSH_POLLS_ALONE];

#pragma unroll
    for (unsigned u = 0; u < WSH_POLLS_ALONE; u++)
        if (wsh_dev_is_member(set, base + u))
            word[u] = wsh_dev_word_poll(set.ivars + base + u), seen.members |= 1u << u;
#pragma unroll
    for (unsigned u = 0; u < WSH_POLLS_ALONE; u++)
        if (seen.members >> u & 1 && wsh_dev_word_holds(set, base + u, word[u]))
            seen.holding |= 1u << u;
    return seen;
}

template <class W> static WSH_DEV struct wsh_dev_seen wsh_dev_see_warp(const struct wsh_dev_set<W> &set, size_t base)
{
    size_t i = base + (wsh_dev_thread() & 31);
    unsigned mask = wsh_dev_warp_mask();
    bool member = wsh_dev_is_member(set, i);
    bool holds = member && wsh_dev_word_holds(set, i, wsh_dev_word_poll(set.ivars + i));

    return wsh_dev_seen{__ballot_sync(mask, member), __ballot_sync(mask, holds)};
}

template <int S, class W>
static WSH_DEV struct wsh_dev_seen wsh_dev_see(const struct wsh_dev_set<W> &set, size_t base)
{
    return S == WSH_THREAD ? wsh_dev_see_alone(set, base) : wsh_dev_see_warp(set, base);
}

template <class W> static WSH_DEV struct wsh_dev_patience wsh_dev_patience_of(const struct wsh_dev_set<W> &set)
{
    return wsh_dev_patience{{set.what, set.ivars, (uint64_t)set.value, set.cmp, 0}, 0};
}

/* The functions below run in one thread, or in all lanes of one warp with equal results. */

template <int S, class W> WSH_DEV_CALL bool wsh_dev_all(const struct wsh_dev_set<W> &set, bool wait)
{
    struct wsh_dev_patience patience = wsh_dev_patience_of(set);

#pragma unroll 1
    for (size_t base = 0; base < set.nelems;) {
        struct wsh_dev_seen seen = wsh_dev_see<S>(set, base);

        if (seen.members == seen.holding)
            base += wsh_dev_span_of_poll<S>();
        else if (!wait)
            return false;
        else
            wsh_dev_wait_longer(&patience);
    }
    wsh_ptx_acquire();
    return true;
}

/* A different word to begin with each time, so that none is passed over for ever. */
template <int S> static WSH_DEV uint32_t wsh_dev_first_poll(size_t nelems)
{
    uint32_t somewhere = (uint32_t)(clock64() >> 5) * 2654435761u >> 8;

    return wsh_dev_broadcast<S == WSH_THREAD ? WSH_THREAD : WSH_WARP>(somewhere, 0) % (uint32_t)nelems;
}

/* The first bit set of `bits` at `from` or after it, else the first. */
static WSH_DEV uint32_t wsh_dev_pick(uint32_t bits, uint32_t from)
{
    uint32_t later = bits & ~0u << from;

    return (uint32_t)__ffs((int)(later ? later : bits)) - 1;
}

/* Index of one that satisfies, or nelems: an empty set, or (wait false) none does. */
template <int S, class W> WSH_DEV_CALL uint32_t wsh_dev_any(const struct wsh_dev_set<W> &set, bool wait)
{
    struct wsh_dev_patience patience = wsh_dev_patience_of(set);
    uint32_t n = (uint32_t)set.nelems, span = wsh_dev_span_of_poll<S>(), members;

    do {
        uint32_t first = n ? wsh_dev_first_poll<S>(n) : 0, base = first - first % span;

        members = 0;
#pragma unroll 1
        for (uint32_t looked = 0; looked < n + span; looked += span, base = base + span < n ? base + span : 0) {
            struct wsh_dev_seen seen = wsh_dev_see<S>(set, base);

            members |= seen.members;
            if (seen.holding) {
                wsh_ptx_acquire();
                return base + wsh_dev_pick(seen.holding, first % span);
            }
        }
        wsh_dev_wait_longer(&patience);
    } while (wait && members);
    return n;
}

/* Writes base + i for each bit i. */
template <int S> static WSH_DEV void wsh_dev_list_bits(size_t *indices, size_t base, uint32_t bits)
{
    if constexpr (S == WSH_THREAD) {
#pragma unroll 1
        for (; bits; bits &= bits - 1)
            *indices++ = base + (size_t)__ffs((int)bits) - 1;
    } else {
        unsigned lane = wsh_dev_thread() & 31;

        if (bits >> lane & 1)
            indices[__popc(bits & ((1u << lane) - 1))] = base + lane;
    }
}

template <int S, class W>
WSH_DEV_CALL uint32_t wsh_dev_some(const struct wsh_dev_set<W> &set, size_t *indices, bool wait)
{
    struct wsh_dev_patience patience = wsh_dev_patience_of(set);
    uint32_t n = 0, members;

    do {
        members = 0;
#pragma unroll 1
        for (size_t base = 0; base < set.nelems; base += wsh_dev_span_of_poll<S>()) {
            struct wsh_dev_seen seen = wsh_dev_see<S>(set, base);

            members |= seen.members;
            wsh_dev_list_bits<S>(indices + n, base, seen.holding);
            n += (uint32_t)__popc(seen.holding);
        }
        wsh_dev_wait_longer(&patience);
    } while (wait && members && !n);
    wsh_ptx_acquire();
    return n;
}

/* The shells' side: checks, who looks, and how the others learn of it. */

template <class W> static WSH_DEV void wsh_dev_check_set(const struct wsh_dev_set<W> &set)
{
    if (!set.nelems || !wsh_dev_checks())
        return;
    wsh_dev_check_word(set.what, set.ivars, sizeof *set.ivars);
    wsh_dev_check_symmetric(set.what, set.ivars, set.nelems * sizeof *set.ivars);
    wsh_dev_check_cmp(set.what, set.cmp);
}

/* True in the lanes that look. The barrier before: arrays that other lanes wrote. */
template <int S, class W> static WSH_DEV bool wsh_dev_set_begin(const struct wsh_dev_set<W> &set)
{
    wsh_dev_check_set(set);
    wsh_dev_sync<S>();
    return S != WSH_BLOCK || wsh_dev_thread() < 32;
}

template <int S, class W> WSH_DEV_CALL int wsh_dev_set_all(const struct wsh_dev_set<W> &set, bool wait)
{
    bool all = false;

    if (wsh_dev_set_begin<S>(set))
        all = wsh_dev_all<S>(set, wait);
    return wsh_dev_any_lane<S>(all);
}

template <int S, class W> WSH_DEV_CALL size_t wsh_dev_set_any(const struct wsh_dev_set<W> &set, bool wait)
{
    uint32_t found = 0;

    if (wsh_dev_set_begin<S>(set))
        found = wsh_dev_any<S>(set, wait);
    found = wsh_dev_broadcast<S>(found, (uint32_t)set.nelems);
    return found < set.nelems ? found : (size_t)-1;
}

template <int S, class W>
WSH_DEV_CALL size_t wsh_dev_set_some(const struct wsh_dev_set<W> &set, size_t *indices, bool wait)
{
    uint32_t found = 0;

    if (wsh_dev_set_begin<S>(set))
        found = wsh_dev_some<S>(set, indices, wait);
    return wsh_dev_broadcast<S>(found, (uint32_t)set.nelems);
}

#endif
