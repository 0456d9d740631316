/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The completions of a send queue that kernels write: read from the NIC's completion queue in memory, where they come
 * in any order, and counted. Pure: no libfabric.
 */
#ifndef WSH_EFA_GDA_CQ_H
#define WSH_EFA_GDA_CQ_H

#include <stdbool.h>
#include <stdint.h>

/* Of an id: the number of the request (device/nic/gda.h), and above it the PE. */
#define WSH_EFA_GDA_NUMBER_BITS 40

/* Entries are powers of two; their phase is 1 in the first turn. */
struct wsh_efa_cq {
    const unsigned char *at;
    uint32_t entry_bytes, entries;
    uint64_t taken;
};

struct wsh_efa_completion {
    uint64_t id;
    uint8_t status; /* 0: success; a NIC's codes for keys: */
#define WSH_EFA_GDA_LOCAL_KEY 5
#define WSH_EFA_GDA_REMOTE_KEY 7
    bool sent, read; /* of the send queue; of a read */
};

/* The next one, if it is there. */
static inline bool wsh_efa_cq_take(struct wsh_efa_cq *cq, struct wsh_efa_completion *completion)
{
    const void *entry = cq->at + (cq->taken & (cq->entries - 1)) * cq->entry_bytes;
    const uint64_t *words = entry;
    /* Acquire: the NIC writes this part last. */
    uint32_t head = __atomic_load_n((const uint32_t *)entry, __ATOMIC_ACQUIRE);
    uint64_t first;

    if ((head >> 24 & 1) == (cq->taken / cq->entries & 1))
        return false;
    first = __atomic_load_n(&words[0], __ATOMIC_RELAXED);
    completion->id =
        (first & 0xffff) | first >> 48 << 16 | __atomic_load_n(&words[1], __ATOMIC_RELAXED) << 32;
    completion->status = head >> 16 & 0xff;
    completion->sent = (head >> 25 & 3) == 1;
    completion->read = (head >> 28 & 7) == 1;
    cq->taken++;
    return true;
}

/*
 * Which requests are complete, of the `entries` from `mark` on, a power of two, 64 or more. At first as many as the
 * queue has; but a queue with so many under way goes on while one of them takes long, so there may be more.
 */
struct wsh_efa_window {
    uint64_t count, mark; /* so many are; all below this one */
    uint32_t entries;
    uint64_t *bits;
};
#define WSH_EFA_GDA_WINDOW_MAX ((uint32_t)1 << 26)

/* 0 or -ENOMEM. close: also of zeros. */
int wsh_efa_window_open(struct wsh_efa_window *window, uint32_t entries);
void wsh_efa_window_close(struct wsh_efa_window *window);

/* How far a request of that number (its low bits) is behind the mark. */
static inline uint64_t wsh_efa_window_ahead(const struct wsh_efa_window *window, uint64_t number)
{
    return (number - window->mark) & (((uint64_t)1 << WSH_EFA_GDA_NUMBER_BITS) - 1);
}

/* It is complete. False: it was complete before, or is beyond the window. */
static inline bool wsh_efa_window_add(struct wsh_efa_window *window, uint64_t number)
{
    uint64_t ahead = wsh_efa_window_ahead(window, number);
    uint64_t at = (window->mark + ahead) & (window->entries - 1), bit = (uint64_t)1 << (at & 63);

    if (ahead >= window->entries || window->bits[at >> 6] & bit)
        return false;
    window->bits[at >> 6] |= bit;
    window->count++;
    return true;
}

/* Makes room for it. -EPROTO: it is in the window, or farther ahead than any that may be under way; or -ENOMEM. */
int wsh_efa_window_grow(struct wsh_efa_window *window, uint64_t number);

/* Brings `mark` up to date. */
void wsh_efa_window_advance(struct wsh_efa_window *window);

/*
 * Takes at most `most` completions, and brings the window up to date. How many; -EIO with the `bad` one, which has an
 * error; -EPROTO with one that is not under way; -ENOMEM.
 */
int wsh_efa_cq_drain(struct wsh_efa_cq *cq, struct wsh_efa_window *window, int most,
                     struct wsh_efa_completion *bad);

/*
 * Queues for kernels that a PE may have on its rails: a NIC has 256 queue pairs, of which those of kernels take at most
 * half, for `pes` PEs of a host that has `nics` of them in all.
 */
unsigned wsh_efa_gda_share(unsigned pes, unsigned rails, unsigned nics);

#endif
