/* SPDX-License-Identifier: BSD-3-Clause */
/* Has NICs count, tells peers where to put for that, and reads what was counted. */
#include "runtime/nic_counters.h"

#include "base/log.h"
#include "device/nic_word.h"
#include "runtime/coll/coll.h"
#include "runtime/job.h"
#include "runtime/rma.h"

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

static struct wsh_nic_names *names_of(const struct wsh_job *job, uint32_t number)
{
    return (struct wsh_nic_names *)(void *)job->counters.nic.names + number;
}

static uint64_t *host_words(const struct wsh_job *job, uint32_t number)
{
    return job->counters.nic.words + (size_t)number * WSH_TP_COUNTER_WORDS;
}

static uint64_t *device_words(const struct wsh_job *job, uint32_t number)
{
    return (uint64_t *)(void *)job->device.nic_words + (size_t)number * WSH_TP_COUNTER_WORDS;
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
    nic->place = calloc(WSH_TP_COUNTERS, sizeof *nic->place);
    if (!nic->words || !nic->names || !nic->place)
        return -ENOMEM;
    nic->tp = find_tp(job, &nic->n_words);
    if (!nic->tp)
        return 0;
    nic->read = calloc(WSH_TP_COUNTERS, sizeof *nic->read);
    return nic->read ? 0 : -ENOMEM;
}

void wsh_nic_counters_close(struct wsh_job *job)
{
    free(job->counters.nic.place);
    free(job->counters.nic.read);
}

size_t wsh_nic_counters_len(const struct wsh_job *job)
{
    return job->env.nic_counters ? WORDS_LEN : 0;
}

static enum wsh_nic_place place_of(const struct wsh_job *job, uint32_t number)
{
    if (number >= WSH_TP_COUNTERS || !job->counters.nic.place)
        return WSH_NIC_NONE;
    return __atomic_load_n(&job->counters.nic.place[number], __ATOMIC_RELAXED);
}

/*
 * The raw word is read after `kept`, which comes from an earlier one: acquire, its partner is the release of whoever
 * kept it. What others keep meanwhile is not less right.
 */
static uint64_t look(struct wsh_nic_word *word, const uint64_t *at)
{
    uint64_t kept = __atomic_load_n(&word->kept, __ATOMIC_ACQUIRE), seen = kept;
    uint64_t now = WSH_NIC_WORD_EXTEND(kept, __atomic_load_n(at, __ATOMIC_ACQUIRE));

    while (seen < now &&
           !__atomic_compare_exchange_n(&word->kept, &seen, now, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return now;
}

uint64_t wsh_nic_counter_host(struct wsh_job *job, uint32_t number)
{
    struct wsh_nic_counters *nic = &job->counters.nic;
    uint64_t value = 0;

    if (place_of(job, number) != WSH_NIC_HOST)
        return 0;
    for (unsigned i = 0; i < nic->n_words; i++) {
        struct wsh_nic_word *word = &nic->read[number][i];

        value += look(word, host_words(job, number) + i) - word->base;
    }
    return value;
}

int wsh_nic_counter_device(struct wsh_job *job, uint32_t number, uint64_t *value)
{
    struct wsh_nic_counters *nic = &job->counters.nic;
    uint64_t raw[WSH_TP_COUNTER_WORDS], kept[WSH_TP_COUNTER_WORDS];
    int rc;

    if (place_of(job, number) != WSH_NIC_DEVICE)
        return 0;
    for (unsigned i = 0; i < nic->n_words; i++)
        kept[i] = __atomic_load_n(&nic->read[number][i].kept, __ATOMIC_ACQUIRE);
    rc = wsh_get(&job->ctx, raw, device_words(job, number), nic->n_words * sizeof *raw, job->my_pe);
    for (unsigned i = 0; i < nic->n_words && !rc; i++) {
        uint64_t now = WSH_NIC_WORD_EXTEND(kept[i], raw[i]);

        *value += look(&nic->read[number][i], &now) - nic->read[number][i].base;
    }
    return rc;
}

static void rebase(struct wsh_job *job, uint32_t number)
{
    struct wsh_nic_counters *nic = &job->counters.nic;

    for (unsigned i = 0; i < nic->n_words; i++)
        nic->read[number][i].base = nic->read[number][i].kept;
}

static enum wsh_nic_place choose_place(const struct wsh_job *job)
{
    return job->device.attached && job->limits[job->counters.nic.tp->index].hmem ? WSH_NIC_DEVICE
                                                                                 : WSH_NIC_HOST;
}

/* Its NICs count from now on; what they have counted before is not this counter's. */
static int begin_one(struct wsh_job *job, uint32_t number)
{
    struct wsh_nic_counters *nic = &job->counters.nic;
    struct wsh_nic_names *names = names_of(job, number);
    enum wsh_nic_place place = place_of(job, number);
    size_t len = sizeof names->blob;
    uint64_t unused = 0;
    int rc;

    if (place == WSH_NIC_NONE)
        place = choose_place(job);
    rc = nic->tp->ops->counter_open(
        nic->tp, number, place == WSH_NIC_HOST ? host_words(job, number) : device_words(job, number),
        place == WSH_NIC_HOST ? WSH_MEM_HOST : WSH_MEM_DEVICE, names->blob, &len);
    if (rc)
        return rc == -ENOTSUP ? 0 : rc;
    names->len = len;
    __atomic_store_n(&nic->place[number], place, __ATOMIC_RELAXED);
    wsh_nic_counter_host(job, number);
    rc = wsh_nic_counter_device(job, number, &unused);
    rebase(job, number);
    return rc;
}

/* Where to put at that PE of another host. */
static int ask_pe(struct wsh_job *job, uint32_t first, uint32_t n, struct wsh_nic_names *names, int pe)
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

static int ask_members(struct wsh_team *team, uint32_t first, uint32_t n)
{
    struct wsh_nic_names *names = malloc(n * sizeof *names);
    int rc = names ? 0 : -ENOMEM;

    for (int i = 0; i < team->n_pes && !rc; i++)
        rc = ask_pe(team->job, first, n, names, team->members[i]);
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
    return rc ? rc : ask_members(team, first, n);
}
