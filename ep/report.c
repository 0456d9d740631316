/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call waits for, for the report of a hang: which PEs, and how far their counters have come. */
#include "ep/ep.h"

#include <stdio.h>

/* The counters of one phase; first is -1 where near PEs' words and flags are awaited. */
struct family {
    int first, count;
    int low; /* rows of `low` counters are of one PE */
};

static struct family family_of(const struct ep_shape *shape, int phase)
{
    const struct family families[EP_PHASES_N] = {
        [EP_PHASE_PART] = {shape->c_far, shape->far * shape->slots, shape->slots},
        [EP_PHASE_CREDIT] = {shape->c_credit, shape->far, 1},
        [EP_PHASE_FORWARD] = {shape->c_forward, shape->near * shape->far, shape->far},
        [EP_PHASE_TAKEN] = {shape->c_taken, shape->far * shape->near, 0},
        [EP_PHASE_RESULT] = {shape->c_result, shape->far * shape->slots, shape->slots},
        [EP_PHASE_RESULT_CREDIT] = {shape->c_result_credit, shape->far, 1},
        [EP_PHASE_WEIGHTS] = {shape->c_weights, shape->far, 1},
        [EP_PHASE_COUNTS] = {-1, shape->near, 1},
        [EP_PHASE_ROWS] = {-1, shape->near, 1},
        [EP_PHASE_BEGUN] = {-1, shape->near, 1},
        [EP_PHASE_WEIGHT] = {-1, shape->near, 1},
        [EP_PHASE_RESULTS] = {-1, shape->near, 1},
    };

    return families[phase];
}

static bool is_near(int phase)
{
    return phase == EP_PHASE_FORWARD || phase == EP_PHASE_TAKEN || phase == EP_PHASE_COUNTS ||
           phase == EP_PHASE_ROWS || phase == EP_PHASE_BEGUN || phase == EP_PHASE_WEIGHT ||
           phase == EP_PHASE_RESULTS;
}

/* The PE, in the world, that counter i of a phase waits for. */
static int waited_for(const struct shmemx_ep *ep, int phase, const struct family *family, int i)
{
    const struct ep_shape *shape = &ep->shape;
    int number = family->low ? i / family->low : i % shape->near;

    return ep->pes[is_near(phase) ? shape->host * shape->near + number : ep_far_pe(shape, number)];
}

const char *ep_phase_text(int phase)
{
#define EP_PHASE_TEXT(name, text) text,
    static const char *const texts[] = {EP_PHASES(EP_PHASE_TEXT)};

    return texts[phase];
}

static const char *mode_of(const struct shmemx_ep *ep)
{
    return ep->config.mode == SHMEMX_EP_LOW_LATENCY ? "low latency" : "high throughput";
}

/* " PE 3 (6 of 7)". While kernels wait, their counters are not read: that would be a copy from the GPU. */
static size_t name_pe(const struct shmemx_ep *ep, int pe, int counter, uint64_t need, char *text, size_t size)
{
    uint64_t have = ep->kernels || counter < 0 ? 0 : shmemx_counter_fetch(ep->counters[counter]);

    if (have >= need)
        return 0;
    if (counter < 0)
        return (size_t)snprintf(text, size, " PE %d", pe);
    if (ep->kernels)
        return (size_t)snprintf(text, size, " PE %d (fewer than %llu)", pe, (unsigned long long)need);
    return (size_t)snprintf(text, size, " PE %d (%llu of %llu)", pe, (unsigned long long)have,
                            (unsigned long long)need);
}

/* Those whose counters have not come to what is needed. */
static void name_pes(const struct shmemx_ep *ep, int phase, char *text, size_t size)
{
    struct family family = family_of(&ep->shape, phase);
    size_t used = 0;

    for (int i = 0; i < family.count && used + 1 < size; i++) {
        uint64_t need = __atomic_load_n(&ep->phase->needs[i], __ATOMIC_RELAXED);
        size_t comma = used ? 1 : 0;
        size_t more = name_pe(ep, waited_for(ep, phase, &family, i), family.first < 0 ? -1 : family.first + i,
                              need, text + used + comma, size - used - comma);

        if (more && comma)
            text[used] = ',';
        used += more ? more + comma : 0;
    }
}

void ep_wrong_part_text(const struct ep_wrong_part *wrong, char *text, size_t size)
{
    if (wrong->call == wrong->found_call && wrong->part == wrong->found_part)
        snprintf(text, size,
                 "PE %d has sent numbers with call %lld that cannot be; a program that puts to memory of "
                 "others by "
                 "mistake can cause this, else report it",
                 wrong->pe, (long long)wrong->call);
    else
        snprintf(text, size,
                 "PE %d has sent part %d of call %lld where part %d of call %lld was announced; a program "
                 "that puts "
                 "to memory of others by mistake can cause this, else report it",
                 wrong->pe, wrong->found_part, (long long)wrong->found_call, wrong->part,
                 (long long)wrong->call);
}

void ep_report(void *arg, char *text, size_t size)
{
    const struct shmemx_ep *ep = arg;
    int phase = __atomic_load_n(&ep->phase->kind, __ATOMIC_ACQUIRE) - 1;
    long long call = (long long)__atomic_load_n(&ep->phase->call, __ATOMIC_RELAXED);
    char pes[256] = "";

    if (__atomic_load_n(&ep->phase->wrong.there, __ATOMIC_ACQUIRE)) {
        int used = snprintf(text, size, "expert parallelism, %s: ", mode_of(ep));

        ep_wrong_part_text(&ep->phase->wrong, text + used, size - (size_t)used);
        return;
    }
    if (phase < 0 || phase >= EP_PHASES_N)
        return;
    name_pes(ep, phase, pes, sizeof pes);
    snprintf(text, size, "expert parallelism, %s: %s %lld waits until %s:%s", mode_of(ep),
             phase < EP_PHASE_RESULT ? "dispatch" : "combine", call, ep_phase_text(phase), pes);
}
