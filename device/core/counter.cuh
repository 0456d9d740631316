/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts and their counters in device code.
 *
 * A counter is words, whose sum is its value: one in the device heap, to which GPUs add that reach both it and the
 * data's place, one in the host heap, to which the target's CPU adds, and those in which NICs of this PE count. A put
 * of the first kind is a put with a signal; one of the others is the same record for the proxy, which knows the word,
 * or a request that the kernel posts.
 */
#ifndef WSH_DEVICE_COUNTER_CUH
#define WSH_DEVICE_COUNTER_CUH

#include "../nic/nic_count.cuh"
#include "signal.cuh"
#include "wait.cuh"

static WSH_DEV uint64_t *wsh_dev_counter_host(uint32_t number)
{
    return (uint64_t *)(wsh_device_view.seg[WSH_DEVICE_SEG_HEAP].base +
                        (uint64_t)wsh_device_view.counters_host * WSH_DEVICE_COUNTERS_ALIGN) +
           number;
}

static WSH_DEV uint64_t *wsh_dev_counter_device(uint32_t number)
{
    return (uint64_t *)(wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE].base +
                        (uint64_t)wsh_device_view.counters_device * WSH_DEVICE_COUNTERS_ALIGN) +
           number;
}

/* Of a counter that there can be; whether it has been destroyed only the host knows. */
static WSH_DEV uint32_t wsh_dev_counter_number(const char *what, shmemx_counter_t counter)
{
    uint32_t number = (uint32_t)counter - 1;

    if (number >= wsh_device_view.n_counters)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_HANDLE, -1, (const void *)counter, 0);
    return number;
}

/* Whether this GPU reaches both; no refusal. No search where the PE has no memory that it reaches. */
inline WSH_DEV_CALL bool wsh_dev_counter_reaches(const void *dest, uint64_t len, const void *word, int pe)
{
    const struct wsh_dev_target data = {dest, len, pe, false};
    uint64_t at = 0;

    if ((uint32_t)pe < (uint32_t)wsh_device_view.n_pes && wsh_dev_slot(pe) == WSH_DEVICE_NO_SLOT)
        return false;
    return !wsh_dev_target_find(wsh_dev_target{word, sizeof(uint64_t), pe, true}, &at) &&
           (!len || wsh_dev_is_own(data) || !wsh_dev_target_find(data, &at));
}

/* The word to add to. */
static WSH_DEV uint64_t *wsh_dev_counter_word(const void *dest, uint64_t len, uint32_t number, int pe)
{
    uint64_t *word = wsh_dev_counter_device(number);
    uint64_t at;

    if (wsh_dev_reach_fast(word, sizeof *word, pe, &at) && wsh_dev_reach_fast(dest, len, pe, &at))
        return word;
    return wsh_dev_counter_reaches(dest, len, word, pe) ? word : wsh_dev_counter_host(number);
}

/* Whether the put is one zero-copy record, as most between hosts are. */
static WSH_DEV bool wsh_dev_list_is_zero_copy(const shmemx_put_t &put)
{
    return wsh_dev_is_plain_zero_copy(put.dest, put.source, put.nelems, put.pe) &&
           (!put.counter || (uint32_t)put.counter <= wsh_device_view.n_counters);
}

/* *words: its further pieces. */
static WSH_DEV struct wsh_dev_request wsh_dev_list_request(const shmemx_put_t &put, unsigned *words)
{
    struct wsh_dev_request request =
        wsh_dev_request_zero_copy(false, (uint64_t)put.dest, put.source, (uint32_t)put.nelems, put.pe, false);

    if (put.counter)
        wsh_dev_request_add_signal(&request, WSH_AMO_ADD, (uint64_t)wsh_dev_counter_host((uint32_t)put.counter - 1), 1,
                                   false);
    *words = put.counter ? 2 : 1;
    return request;
}

template <int S>
static WSH_DEV void wsh_dev_put_counted_nbi(const char *what, void *dest, const void *source, size_t len,
                                            shmemx_counter_t counter, int pe)
{
    uint32_t number = wsh_dev_counter_number(what, counter);

    if (wsh_dev_has_gda() && wsh_dev_counted_gda<S>(dest, source, len, number, pe))
        return;
    /* Most are one record: the search for where the word lies takes longer. Kernels of 1024 threads lack registers. */
    if (S != WSH_BLOCK && wsh_device_view.zero_copy_from) {
        wsh_dev_sync<S>();
        if (wsh_dev_put_plain_signal<S>(dest, source, len, wsh_dev_counter_host(number), 1, SHMEM_SIGNAL_ADD, pe))
            return;
    }
    wsh_dev_put_signal<S, false>(what, dest, source, len, wsh_dev_counter_word(dest, len, number, pe), 1,
                                 SHMEM_SIGNAL_ADD, pe);
}

/* What NICs have added. Where none has a word for the counter, one load. */
static WSH_DEV uint64_t wsh_dev_counter_nics(uint32_t number)
{
    if (!(wsh_device_view.flags & WSH_DEVICE_NICS_COUNT) || number >= WSH_DEVICE_NIC_COUNTERS)
        return 0;
    return wsh_dev_nic_count(
        (struct wsh_device_nic_counter *)wsh_dev_counter_device(wsh_device_view.n_counters) + number);
}

/* This PE's own, without order. */
static WSH_DEV uint64_t wsh_dev_counter_poll(uint32_t number)
{
    uint64_t host = wsh_device_view.seg[WSH_DEVICE_SEG_HEAP].len ? wsh_ptx_poll(wsh_dev_counter_host(number)) : 0;

    return host + wsh_ptx_poll(wsh_dev_counter_device(number)) + wsh_dev_counter_nics(number);
}

/* Out of line, as is the wait. */
inline WSH_DEV_CALL uint64_t wsh_dev_counter_fetch(const char *what, shmemx_counter_t counter)
{
    uint64_t seen = wsh_dev_counter_poll(wsh_dev_counter_number(what, counter));

    wsh_ptx_acquire();
    return seen;
}

/* Out of line: a wait may take its time. */
inline WSH_DEV_CALL void wsh_dev_counter_poll_until(const char *what, uint32_t number, uint64_t value)
{
    struct wsh_dev_patience patience = {{what, wsh_dev_counter_device(number), value, SHMEM_CMP_GE, 0}, 0};

#pragma unroll 1
    while (wsh_dev_counter_poll(number) < value)
        wsh_dev_wait_longer(&patience);
    wsh_ptx_acquire();
}

template <int S>
static WSH_DEV void wsh_dev_counter_wait_until(const char *what, shmemx_counter_t counter, uint64_t value)
{
    uint32_t number = wsh_dev_counter_number(what, counter);

    if (wsh_dev_is_poller<S>())
        wsh_dev_counter_poll_until(what, number, value);
    wsh_dev_sync<S>();
}

#endif
