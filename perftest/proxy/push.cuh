/* SPDX-License-Identifier: BSD-3-Clause */
/* The work of one producer, by the device's own code, for a kernel and for CPU threads. */
#ifndef PERFTEST_PROXY_PUSH_CUH
#define PERFTEST_PROXY_PUSH_CUH

#include "device/proxy/ring_push.cuh"
#include "perftest/proxy/queue.h"

enum { QUEUE_SLOTS = 64 };

/* The producer's clock in ns: its includer's. */
WSH_DEV uint64_t queue_clock();

static WSH_DEV struct wsh_dev_rings queue_rings(const struct queue_memory &memory,
                                                const struct queue_work &work, uint32_t producer, uint32_t pe)
{
    return wsh_dev_rings_to(memory.ring, memory.heads, memory.n / memory.each, memory.each, producer / work.block,
                            pe);
}

static WSH_DEV void queue_fill(unsigned char *payload, uint64_t pe, uint64_t off, uint32_t len)
{
    uint32_t word = 0;

    for (; word + 2 <= len / 8; word += 2)
        wsh_ptx_put((struct wsh_ptx_pair *)payload + word / 2,
                    wsh_ptx_pair{queue_value(pe, off, word), queue_value(pe, off, word + 1)});
    if (word < len / 8)
        wsh_ptx_put((uint64_t *)payload + word, queue_value(pe, off, word));
}

static WSH_DEV void queue_put(const struct queue_memory &memory, const struct queue_work &work,
                              uint32_t producer, uint32_t i)
{
    uint32_t pe = (producer + i) % work.n_pes, chunks = wsh_dev_ring_chunks(work.len);
    uint64_t off = ((uint64_t)producer * QUEUE_SLOTS + i % QUEUE_SLOTS) * work.len & (work.heap_len - 1);
    struct wsh_dev_rings rings = queue_rings(memory, work, producer, pe);
    uint64_t at = wsh_dev_ring_reserve(rings, chunks ? chunks : 1);

    queue_fill(wsh_dev_ring_payload(rings, at), pe, off, work.len);
    wsh_dev_ring_post(
        rings, at, wsh_dev_request{wsh_dev_ring_kind(WSH_RING_PUT), work.heap + off, 0, 0, 0, work.len, (int)pe},
        0);
}

/* From where it goes to. */
static WSH_DEV void queue_zero_copy(const struct queue_memory &memory, const struct queue_work &work,
                                    uint32_t producer, uint32_t i)
{
    uint32_t pe = (producer + i) % work.n_pes;
    uint64_t at =
        work.heap + (((uint64_t)producer * QUEUE_SLOTS + i % QUEUE_SLOTS) * work.len & (work.heap_len - 1));

    wsh_dev_ring_send(queue_rings(memory, work, producer, pe),
                      wsh_dev_request_zero_copy(false, at, (const void *)at, work.len, (int)pe, false), 1);
}

static WSH_DEV void queue_blocking(const struct queue_memory &memory, const struct queue_work &work,
                                   uint32_t producer, uint32_t i)
{
    queue_zero_copy(memory, work, producer, i);
    wsh_dev_rings_quiet(queue_rings(memory, work, producer, (producer + i) % work.n_pes));
}

/* The word of an addition lies behind what is put. */
static WSH_DEV void queue_ack(const struct queue_memory &memory, const struct queue_work &work,
                              uint32_t producer)
{
    uint32_t pe = producer % work.n_pes;
    struct wsh_dev_rings rings = queue_rings(memory, work, producer, pe);
    unsigned words;
    struct wsh_dev_request request =
        wsh_dev_request_of_amo(WSH_AMO_ADD, true, work.heap + work.heap_len, 1, 0, 8, (int)pe, &words);
    uint64_t at = wsh_dev_ring_send(rings, request, words);

    wsh_dev_ring_await(rings, at);
    wsh_dev_ring_take(rings, at);
}

/* ns of the quiet. */
static WSH_DEV uint64_t queue_quiet(const struct queue_memory &memory, const struct queue_work &work,
                                    uint32_t producer)
{
    uint64_t began;

    for (uint32_t i = 0; i < work.outstanding; i++)
        queue_put(memory, work, producer, i);
    began = queue_clock();
    wsh_dev_rings_quiet(queue_rings(memory, work, producer, 0));
    return queue_clock() - began;
}

static WSH_DEV void queue_flag_trip(struct queue_flag *flag, uint64_t number)
{
    wsh_ptx_signal_set(&flag->there, number);
    wsh_dev_ring_reach("the flag", &flag->back, number);
}

/* All the work of one; the ns that count, and which all others take no longer than. */
static WSH_DEV uint64_t queue_work(const struct queue_memory &memory, const struct queue_work &work,
                                   uint32_t producer)
{
    uint64_t began = queue_clock(), quiet = 0;

#pragma unroll 1
    for (uint32_t i = 0; i < work.each; i++)
        switch (work.what) {
        case QUEUE_PUT: queue_put(memory, work, producer, i); break;
        case QUEUE_ZERO_COPY: queue_zero_copy(memory, work, producer, i); break;
        case QUEUE_BLOCKING: queue_blocking(memory, work, producer, i); break;
        case QUEUE_ACK: queue_ack(memory, work, producer); break;
        case QUEUE_QUIET: quiet += queue_quiet(memory, work, producer); break;
        default: queue_flag_trip(memory.flag, i + 1);
        }
    return work.what == QUEUE_QUIET ? quiet : queue_clock() - began;
}

#endif
