/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets a host compiler build what posts to send queues of NICs: CPU threads stand for lanes, alone or in parties
 * that are together. What a lane stores to a NIC arrives when it likes, in any order, but for a release, which is
 * cumulative over the party and over what others have passed on: that the GPU sees, the NIC not yet. A wait or a
 * barrier ends by an exception once something was found wrong.
 */
#ifndef WSH_TEST_DEVICE_CPU_GDA_CUH
#define WSH_TEST_DEVICE_CPU_GDA_CUH

#define wsh_ptx_active cpu_active_alone
#define wsh_ptx_party_from cpu_party_from_alone
#define wsh_ptx_party_sync cpu_party_sync_alone
#define wsh_ptx_release cpu_release_at_once
#define wsh_ptx_nic_put cpu_nic_put_at_once
#define wsh_ptx_nic_put_pair cpu_nic_put_pair_at_once
#define wsh_ptx_pass_on cpu_pass_on_at_once
#define wsh_ptx_poll cpu_poll_any
#include "test/device/cpu_ring.cuh"
#undef wsh_ptx_active
#undef wsh_ptx_party_from
#undef wsh_ptx_party_sync
#undef wsh_ptx_release
#undef wsh_ptx_nic_put
#undef wsh_ptx_nic_put_pair
#undef wsh_ptx_pass_on
#undef wsh_ptx_poll

/* All lanes of a party, with one leader; of one lane: itself. */
uint64_t wsh_ptx_party_from(uint32_t lanes, uint64_t value, uint32_t leader);
void wsh_ptx_party_sync(uint32_t lanes);

void wsh_ptx_release();
void wsh_ptx_nic_put(uint64_t *word, uint64_t value);
void wsh_ptx_nic_put(uint32_t *word, uint32_t value);
void wsh_ptx_nic_put_pair(uint64_t *word, uint64_t first, uint64_t second);
void wsh_ptx_pass_on(uint64_t *word, uint64_t value);
uint64_t wsh_ptx_poll(const uint64_t *word);
static inline uint32_t wsh_ptx_poll(const uint32_t *word)
{
    return cpu_poll_any(word);
}

template <class T> static inline T wsh_ptx_fetch_add(T *word, T n)
{
    return __atomic_fetch_add(word, n, __ATOMIC_ACQ_REL);
}

template <class T> static inline T wsh_ptx_compare_swap(T *word, T cond, T value)
{
    __atomic_compare_exchange_n(word, &cond, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return cond;
}

#endif
