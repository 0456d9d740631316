/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets NICs count, publishes to peers where they put for that, and reads the counts. */
#include "runtime/op/nic_counters.h"

#include "base/log.h"
#include "device/nic/nic_word.h"
#include "device/view/view.h"
#include "runtime/coll/coll.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/op/rma.h"
#include "runtime/wait/wait.h"

#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX 1024 /* of a team: each member asks each other one where to put */

/* Of a counter, for peers. len 0: its NICs do not count. */
struct wsh_nic_names {
    uint64_t len;
    unsigned char blob[WSH_TP_COUNTER_MAX];
};

#define WORDS_LEN (WSH_TP_COUNTERS * WSH_TP_COUNTER_WORDS * sizeof(uint64_t))
#define LINE 128
#define SAMPLE_NS 1000000000ull /* a NIC counts far less than 2^30 meanwhile */

_Static_assert(WSH_TP_COUNTERS == WSH_DEVICE_NIC_COUNTERS && WSH_TP_COUNTER_WORDS == WSH_DEVICE_NIC_WORDS,
               "kernels know as many");

static struct wsh_nic_names *names_of(const struct wsh_job *job, uint32_t number)
{
    return (struct wsh_nic_names *)(void *)job->counters.nic.names + number;
}

static uint64_t *host_words(const struct wsh_job *job, uint32_t number)
{
    return job->counters.nic.words + (size_t)number * WSH_TP_COUNTER_WORDS;
}

/* An address of the GPU's memory. */
static struct wsh_device_nic_counter *device_counter(const struct wsh_job *job, uint32_t number)
{
    return (struct wsh_device_nic_counter *)(void *)job->device.nic_counters + number;
}

static struct wsh_tp *find_tp(const struct wsh_job *job, unsigned *n_words)
{
    for (unsigned i = 0; i < job->n_tps; i++)
        if ((*n_words = job->tp[i]->ops->counter_words(job->tp[i])))
            return job->tp[i];
    return NULL;
}

int wsh_nic_counters_open(struct wsh_job *job)
{
    struct wsh_nic_counters *nic = &job->counters.nic;

    if (!job->env.nic_counters)
        return 0;
    nic->words = wsh_heap_reserve(&job->heap, WORDS_LEN, LINE);
    nic->names = wsh_heap_reserve(&job->heap, WSH_TP_COUNTERS * sizeof(struct wsh_nic_names), LINE);
    nic->read = wsh_heap_reserve(&job->heap, WSH_TP_COUNTERS * sizeof *nic->read, LINE);
    nic->memory = calloc(WSH_TP_COUNTERS, sizeof *nic->memory);
    if (!nic->words || !nic->names || !nic->read || !nic->memory)
        return -ENOMEM;
    nic->sample = wsh_nic_counters_sample;
    nic->tp = find_tp(job, &nic->n_words);
    return 0;
}

void wsh_nic_counters_close(struct wsh_job *job)
{
    free(job->counters.nic.memory);
}

size_t wsh_nic_counters_len(const struct wsh_job *job)
{
    return job->env.nic_counters ? WSH_TP_COUNTERS * sizeof(struct wsh_device_nic_counter) : 0;
}

static enum wsh_nic_memory memory_of(const struct wsh_job *job, uint32_t number)
{
    if (number >= WSH_TP_COUNTERS || !job->counters.nic.memory)
        return WSH_NIC_NONE;
    return __atomic_load_n(&job->counters.nic.memory[number], __ATOMIC_RELAXED);
}

/*
 * The raw word is read after `kept`, which was derived from an earlier value: acquire, partner of the release of
 * whoever stored `kept`. A `kept` that another thread stores meanwhile is as good.
 */
static uint64_t sample(struct wsh_nic_word *word, const uint64_t *at)
{
    uint64_t kept = __atomic_load_n(&word->kept, __ATOMIC_ACQUIRE), seen = kept;
    uint64_t now = WSH_NIC_WORD_EXTEND(kept, __atomic_load_n(at, __ATOMIC_ACQUIRE));

    now = (int64_t)(now - kept) < 0 ? kept : now; /* a thread that has slept since */
    while ((int64_t)(now - seen) > 0 &&
           !__atomic_compare_exchange_n(&word->kept, &seen, now, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return now;
}

uint64_t wsh_nic_counter_host(struct wsh_job *job, uint32_t number)
{
    struct wsh_nic_counters *nic = &job->counters.nic;
    uint64_t value = 0;

    if (memory_of(job, number) != WSH_NIC_HOST)
        return 0;
    for (unsigned i = 0; i < nic->n_words; i++) {
        struct wsh_nic_word *word = &nic->read[number][i];

        value += sample(word, host_words(job, number) + i) - word->base;
    }
    return value;
}

/* Whether the words of a place are to be looked at, by the one who asks. */
static bool is_time(struct wsh_nic_counters *nic, enum wsh_nic_memory memory)
{
    uint64_t now = (uint64_t)(wsh_wait_now() * 1e9),
             last = __atomic_load_n(&nic->sampled_at[memory], __ATOMIC_RELAXED);

    return now - last >= SAMPLE_NS && __atomic_compare_exchange_n(&nic->sampled_at[memory], &last, now, false,
                                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void wsh_nic_counters_sample(struct wsh_job *job, struct wsh_nic_counters *nic)
{
    if (is_time(nic, WSH_NIC_HOST))
        for (uint32_t i = 0; i < WSH_TP_COUNTERS; i++)
            wsh_nic_counter_host(job, i);
}

static uint64_t count_of(const struct wsh_device_nic_counter *counter, unsigned i)
{
    return WSH_NIC_WORD_EXTEND(counter->word[i].kept, counter->count[i]);
}

/* Adds the count, and renews `kept` if it is old, as kernels do. */
static int device_count(struct wsh_job *job, uint32_t number, const struct wsh_device_nic_counter *counter,
                        uint64_t *value)
{
    int rc = 0;

    for (unsigned i = 0; i < job->counters.nic.n_words && !rc; i++) {
        uint64_t now = count_of(counter, i);

        *value += now - job->counters.nic.read[number][i].base;
        if ((int64_t)(now - counter->word[i].kept) >= (int64_t)WSH_NIC_WORD_STALE)
            rc = wsh_device_ops()->write(job, &device_counter(job, number)->word[i].kept, &now, sizeof now);
    }
    return rc;
}

static int sample_others(struct wsh_job *job)
{
    size_t len = WSH_TP_COUNTERS * sizeof(struct wsh_device_nic_counter);
    struct wsh_device_nic_counter *all = malloc(len);
    uint64_t unused = 0;
    int rc = all ? wsh_get(&job->ctx, all, device_counter(job, 0), len, job->my_pe) : -ENOMEM;

    for (uint32_t i = 0; i < WSH_TP_COUNTERS && !rc; i++)
        if (memory_of(job, i) == WSH_NIC_DEVICE)
            rc = device_count(job, i, &all[i], &unused);
    free(all);
    return rc;
}

int wsh_nic_counter_device(struct wsh_job *job, uint32_t number, uint64_t *value)
{
    struct wsh_device_nic_counter counter;
    int rc = 0;

    if (!__atomic_load_n(&job->counters.nic.n[WSH_NIC_DEVICE], __ATOMIC_RELAXED))
        return 0;
    if (is_time(&job->counters.nic, WSH_NIC_DEVICE))
        rc = sample_others(job);
    if (rc || memory_of(job, number) != WSH_NIC_DEVICE)
        return rc;
    rc = wsh_get(&job->ctx, &counter, device_counter(job, number), sizeof counter, job->my_pe);
    return rc ? rc : device_count(job, number, &counter, value);
}

/* What kernels read of it. `kept`: of words in device memory. */
static int show(struct wsh_job *job, uint32_t number, const uint64_t *kept)
{
    struct wsh_nic_counters *nic = &job->counters.nic;
    struct wsh_device_nic_counter *device = device_counter(job, number);
    struct wsh_device_nic_word word[WSH_TP_COUNTER_WORDS] = {0};
    bool here = memory_of(job, number) == WSH_NIC_DEVICE;

    for (unsigned i = 0; i < nic->n_words && (here || !job->device.pin_refused); i++) {
        word[i].at = (uint64_t)(uintptr_t)(here ? &device->count[i] : host_words(job, number) + i);
        word[i].base = nic->read[number][i].base;
        word[i].kept_at = (uint64_t)(uintptr_t)(here ? &device->word[i].kept : &nic->read[number][i].kept);
        word[i].kept = here ? kept[i] : 0;
    }
    return wsh_device_ops()->write(job, device->word, word, sizeof word);
}

int wsh_nic_counters_show(struct wsh_job *job)
{
    int rc = 0;

    for (uint32_t i = 0; i < WSH_TP_COUNTERS && !rc; i++)
        if (memory_of(job, i) == WSH_NIC_HOST)
            rc = show(job, i, NULL);
    return rc;
}

/* Sets the base: counts before this belong to an earlier counter. `first`: these words have no `kept` yet. */
static int rebase(struct wsh_job *job, uint32_t number, bool first)
{
    struct wsh_nic_counters *nic = &job->counters.nic;
    bool here = memory_of(job, number) == WSH_NIC_DEVICE;
    struct wsh_device_nic_counter device = {0};
    int rc = here ? wsh_get(&job->ctx, &device, device_counter(job, number), sizeof device, job->my_pe) : 0;
    uint64_t kept[WSH_TP_COUNTER_WORDS];

    for (unsigned i = 0; i < nic->n_words && !rc; i++) {
        struct wsh_nic_word *word = &nic->read[number][i];

        if (first)
            word->kept = __atomic_load_n(host_words(job, number) + i, __ATOMIC_ACQUIRE) & WSH_NIC_WORD_MASK;
        if (here)
            kept[i] = first ? device.count[i] & WSH_NIC_WORD_MASK : count_of(&device, i);
        word->base = here ? kept[i] : sample(word, host_words(job, number) + i);
    }
    return rc || !job->device.attached ? rc : show(job, number, kept);
}

static enum wsh_nic_memory choose_memory(const struct wsh_job *job)
{
    return job->device.attached && job->limits[job->counters.nic.tp->index].hmem ? WSH_NIC_DEVICE
                                                                                 : WSH_NIC_HOST;
}

/* Its NICs count from now on. */
static int begin_one(struct wsh_job *job, uint32_t number)
{
    struct wsh_nic_counters *nic = &job->counters.nic;
    struct wsh_nic_names *names = names_of(job, number);
    enum wsh_nic_memory memory = memory_of(job, number);
    bool first = memory == WSH_NIC_NONE;
    size_t len = sizeof names->blob;
    int rc;

    if (first)
        memory = choose_memory(job);
    rc = nic->tp->ops->counter_open(
        nic->tp, number,
        memory == WSH_NIC_HOST ? host_words(job, number) : device_counter(job, number)->count,
        memory == WSH_NIC_HOST ? WSH_MEM_HOST : WSH_MEM_DEVICE, names->blob, &len);
    if (rc)
        return rc == -ENOTSUP ? 0 : rc;
    names->len = len;
    __atomic_store_n(&nic->memory[number], memory, __ATOMIC_RELAXED);
    rc = rebase(job, number, first);
    if (first)
        __atomic_fetch_add(&nic->n[memory], 1, __ATOMIC_RELAXED);
    return rc;
}

/* Where to put at that PE of another host. */
static int query_pe(struct wsh_job *job, uint32_t first, uint32_t n, struct wsh_nic_names *names, int pe)
{
    const struct wsh_rmem *rmem = wsh_route_main(&job->routes, pe, WSH_SEG_HEAP);
    int rc;

    if (pe == job->my_pe || !rmem || rmem->map)
        return 0;
    rc = wsh_get(&job->ctx, names, names_of(job, first), n * sizeof *names, pe);
    for (uint32_t i = 0; i < n && !rc; i++)
        if (names[i].len && names[i].len <= sizeof names[i].blob)
            rc = rmem->tp->ops->counter_attach(rmem->tp, pe, first + i, names[i].blob, names[i].len);
    return rc == -ENOTSUP ? 0 : rc;
}

static int query_members(struct wsh_team *team, uint32_t first, uint32_t n)
{
    struct wsh_nic_names *names = malloc(n * sizeof *names);
    int rc = names ? 0 : -ENOMEM;

    for (int i = 0; i < team->n_pes && !rc; i++)
        rc = query_pe(team->job, first, n, names, team->members[i]);
    free(names);
    return rc;
}

int wsh_nic_counters_begin(struct wsh_team *team, uint32_t first, uint32_t n, bool any, const char *routine)
{
    struct wsh_job *job = team->job;
    int rc = 0, err;

    if (!any || first >= WSH_TP_COUNTERS || team->n_pes > MEMBERS_MAX)
        return 0;
    n = n < WSH_TP_COUNTERS - first ? n : WSH_TP_COUNTERS - first;
    for (uint32_t i = 0; job->counters.nic.tp && i < n && !rc; i++)
        rc = begin_one(job, first + i);
    err = wsh_sync(team, routine);
    rc = rc ? rc : err;
    if (!rc)
        rc = query_members(team, first, n);
    return rc ? rc : wsh_device_ops()->counters_show(job, first, n, true);
}

int wsh_nic_counters_end(struct wsh_job *job, uint32_t first, uint32_t n)
{
    return wsh_device_ops()->counters_show(job, first, n, false);
}
