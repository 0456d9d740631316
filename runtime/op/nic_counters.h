/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What NICs add to counters (counters.h): one word per NIC of this PE, which counts the puts that arrived by it.
 *
 * Only the counters with the lowest numbers have such words, from the first create on, as many as the transport's
 * budget allows. The words are in the device heap if one is attached by then and NICs access device memory, so that
 * kernels can poll them; else in the host heap. A NIC's word has 31 bits and is never reset: its value at the counter's
 * create (`base`) is subtracted, and a reader extends it to 64 bits by `kept`, a sample at most 2^30 counts old, which
 * is stored in the same kind of memory. The progress loop samples words in host memory. Words in device memory are
 * sampled by kernels and CPUs that fetch or wait for the counter, and now and then by CPUs that do so for another one.
 */
#ifndef WSH_NIC_COUNTERS_H
#define WSH_NIC_COUNTERS_H

#include "transports/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_job;
struct wsh_team;

enum wsh_nic_memory { WSH_NIC_NONE, WSH_NIC_HOST, WSH_NIC_DEVICE };

/* A word as this PE has read it. */
struct wsh_nic_word {
    /* Its value in 64 bits when last sampled; only grows. For words in host memory. Kernels read it. */
    uint64_t kept;
    uint64_t base; /* its value when the counter was created */
};

struct wsh_nic_counters {
    struct wsh_tp *tp;    /* whose NICs count, or NULL */
    unsigned n_words;     /* of a counter */
    uint64_t *words;      /* symmetric, as is `names`: [WSH_TP_COUNTERS][WSH_TP_COUNTER_WORDS] */
    unsigned char *names; /* [WSH_TP_COUNTERS] what peers need of each (struct wsh_nic_names) */
    struct wsh_nic_word (*read)[WSH_TP_COUNTER_WORDS]; /* [WSH_TP_COUNTERS], in the host heap */
    uint8_t *memory; /* [WSH_TP_COUNTERS] enum wsh_nic_memory. Relaxed: set before the sync of create */
    unsigned n[3];   /* counters, by place. Relaxed */
    unsigned calls;  /* of wsh_nic_counters_keep. Relaxed, as are those below */
    uint64_t sampled_at[3]; /* nanoseconds: when all words of a place were looked at, by place */
    void (*sample)(struct wsh_job *job,
                   struct wsh_nic_counters *nic); /* for the wait loop, which is below this */
};

/* After the transports are connected; the same on all PEs. 0 or a logged error. */
int wsh_nic_counters_open(struct wsh_job *job);
void wsh_nic_counters_close(struct wsh_job *job);

/* Bytes of the words in the device heap, on all PEs alike. */
size_t wsh_nic_counters_len(const struct wsh_job *job);

/* Whether NICs of this PE count at all. */
static inline bool wsh_nic_counters_are_there(const struct wsh_nic_counters *nic)
{
    return nic->tp != NULL;
}

/*
 * The n counters from `first` on begin to count, before any member puts. Collective over the team where some member's
 * NICs count (`any`). 0 or a final error.
 */
int wsh_nic_counters_begin(struct wsh_team *team, uint32_t first, uint32_t n, bool any, const char *routine);

/* The counters are destroyed: kernels do not post to their queue pairs any more. 0 or a logged error. */
int wsh_nic_counters_end(struct wsh_job *job, uint32_t first, uint32_t n);

/* The GPU's view is being filled: what kernels need of the counters that there are. 0 or a logged error. */
int wsh_nic_counters_show(struct wsh_job *job);

void wsh_nic_counters_sample(struct wsh_job *job, struct wsh_nic_counters *nic);

/* By whoever progresses: now and then, all words in host memory are looked at. */
static inline void wsh_nic_counters_keep(struct wsh_job *job, struct wsh_nic_counters *nic)
{
    enum { SELDOM = 64 };
    unsigned calls;

    if (!__atomic_load_n(&nic->n[WSH_NIC_HOST], __ATOMIC_RELAXED))
        return;
    calls = __atomic_load_n(&nic->calls, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(&nic->calls, calls, __ATOMIC_RELAXED);
    if (calls % SELDOM == 0)
        nic->sample(job, nic);
}

/* What NICs have added in host memory; acquire. */
uint64_t wsh_nic_counter_host(struct wsh_job *job, uint32_t number);
/*
 * What NICs have added in device memory, by a copy. Now and then that samples all other words there too. 0 or a final
 * error.
 */
int wsh_nic_counter_device(struct wsh_job *job, uint32_t number, uint64_t *value);

#endif
