/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets a host compiler build the producers of the rings to the proxy: CPU threads stand for lanes, each a warp of its
 * own. Looks are acquires and stores releases, since ThreadSanitizer does not know fences.
 */
#ifndef WSH_TEST_DEVICE_CPU_RING_CUH
#define WSH_TEST_DEVICE_CPU_RING_CUH

#include "test/device/cpu_ptx.cuh"

struct wsh_ptx_pair {
    uint64_t a, b;
};

template <class T> static inline T wsh_ptx_poll(const T *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* An element of at most 8 bytes. */
template <class T> static inline void wsh_ptx_put(T *word, T value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* In two halves, the second one first in every other place: the consumer must not mind. */
static inline void wsh_ptx_put(struct wsh_ptx_pair *to, struct wsh_ptx_pair v)
{
    bool swap = (uintptr_t)to / sizeof v % 2;

    __atomic_store_n(swap ? &to->b : &to->a, swap ? v.b : v.a, __ATOMIC_RELEASE);
    __atomic_store_n(swap ? &to->a : &to->b, swap ? v.a : v.b, __ATOMIC_RELEASE);
}

/* Likewise. */
static inline struct wsh_ptx_pair wsh_ptx_get(const struct wsh_ptx_pair *from)
{
    struct wsh_ptx_pair v;

    v.b = __atomic_load_n(&from->b, __ATOMIC_ACQUIRE);
    v.a = __atomic_load_n(&from->a, __ATOMIC_ACQUIRE);
    return v;
}

static inline void wsh_ptx_signal_set(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void wsh_ptx_signal_add(uint64_t *word, uint64_t value)
{
    __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
}

template <class T> static inline void wsh_ptx_add(T *word, T n)
{
    __atomic_fetch_add(word, n, __ATOMIC_ACQ_REL);
}

template <class T> static inline void wsh_ptx_or(T *word, T bits)
{
    __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL);
}

template <bool RELEASES> static inline uint64_t wsh_ptx_add_together(uint64_t *word, uint32_t n)
{
    return __atomic_fetch_add(word, n, __ATOMIC_ACQ_REL);
}

/* To queues of NICs, and by who has written there to the next one. */
template <class T> static inline void wsh_ptx_nic_put(T *word, T value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void wsh_ptx_nic_put_pair(uint64_t *word, uint64_t first, uint64_t second)
{
    wsh_ptx_nic_put(word, first);
    wsh_ptx_nic_put(word + 1, second);
}

static inline uint64_t wsh_ptx_known(const uint64_t *word)
{
    return wsh_ptx_poll(word);
}

static inline void wsh_ptx_pass_on(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void wsh_ptx_pass_on_add(uint64_t *word, uint64_t value)
{
    __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
}

static inline void wsh_ptx_raise(uint64_t *word, uint64_t value)
{
    uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (seen < value && !__atomic_compare_exchange_n(word, &seen, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
}

static inline void wsh_ptx_acquire()
{
}

static inline bool wsh_ptx_acquire_if(bool holds)
{
    return holds;
}

static inline void wsh_ptx_release()
{
}

static inline void wsh_ptx_release_own()
{
}

#endif
