/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime/op/nic_counters.c: words of 31 bits that NICs write, read as counts of 64 bits. */
#include "test/common/unit.h"

#include "device/nic/nic_word.h"
#include "runtime/job/job.h"
#include "runtime/op/nic_counters.h"

#include <pthread.h>
#include <stdlib.h>

enum { NUMBER = 3, WORDS = 2 };

static struct wsh_job *job;
static uint64_t *words;

static void start(uint64_t first, uint64_t second)
{
    struct wsh_nic_counters *nic;
    const uint64_t begin[WORDS] = {first, second};

    job = calloc(1, sizeof *job);
    nic = &job->counters.nic;
    nic->n_words = WORDS;
    nic->sample = wsh_nic_counters_sample;
    nic->words = calloc(WSH_TP_COUNTERS * WSH_TP_COUNTER_WORDS, sizeof *words);
    nic->read = calloc(WSH_TP_COUNTERS, sizeof *nic->read);
    nic->memory = calloc(WSH_TP_COUNTERS, sizeof *nic->memory);
    nic->memory[NUMBER] = WSH_NIC_HOST;
    words = nic->words + NUMBER * WSH_TP_COUNTER_WORDS;
    for (int i = 0; i < WORDS; i++)
        words[i] = nic->read[NUMBER][i].kept = nic->read[NUMBER][i].base = begin[i];
}

static void finish(void)
{
    free(job->counters.nic.words);
    free(job->counters.nic.read);
    free(job->counters.nic.memory);
    free(job);
}

static void extends(void)
{
    const uint64_t top = WSH_NIC_WORD_MASK;

    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(5ull, 5ull), 5);
    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(5ull, 7ull), 7);
    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(top, 0ull), top + 1);
    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(top + 1, 0ull), top + 1);
    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(5 * (top + 1) + 9, 8ull), 5 * (top + 1) + 8);
    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(6 * (top + 1) - 1, 8ull), 6 * (top + 1) + 8);
    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(top - 3, (top + 1 + (1ull << 29)) & top), top + 1 + (1ull << 29));
    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(top + 9, top - 8), top - 8);
    CU_ASSERT_EQUAL(WSH_NIC_WORD_EXTEND(3 * (top + 1), (4ull - (1ull << 29)) & top),
                    3 * (top + 1) + 4 - (1ull << 29));
}

/* Each word has its own base, and wraps for itself. */
static void sums(void)
{
    start(WSH_NIC_WORD_MASK - 1, 40);
    CU_ASSERT_EQUAL(wsh_nic_counter_host(job, NUMBER), 0);
    words[0] = 3;
    CU_ASSERT_EQUAL(wsh_nic_counter_host(job, NUMBER), 5);
    words[1] = 41;
    CU_ASSERT_EQUAL(wsh_nic_counter_host(job, NUMBER), 6);
    CU_ASSERT_EQUAL(wsh_nic_counter_host(job, NUMBER + 1), 0);
    CU_ASSERT_EQUAL(wsh_nic_counter_host(job, WSH_TP_COUNTERS), 0);
    finish();
}

#define STEP (1ull << 27)
enum { STEPS = 2000000, READERS = 3 };
static uint64_t sent;
static long wrong;

static void *read_on(void *unused)
{
    uint64_t last = 0, value = 0;

    (void)unused;
    while (value < STEPS * STEP) {
        value = wsh_nic_counter_host(job, NUMBER);
        if (value < last || value > __atomic_load_n(&sent, __ATOMIC_ACQUIRE))
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        last = value;
    }
    return NULL;
}

/* One of them at least looks after every step; the others come late, and must do no harm. */
static void several_readers(void)
{
    pthread_t reader[READERS];

    start(WSH_NIC_WORD_MASK - 63, 0);
    for (int i = 0; i < READERS; i++)
        pthread_create(&reader[i], NULL, read_on, NULL);
    for (uint64_t n = 1; n <= STEPS; n++) {
        __atomic_store_n(&sent, n * STEP, __ATOMIC_RELEASE);
        __atomic_store_n(&words[0], (WSH_NIC_WORD_MASK - 63 + n * STEP) & WSH_NIC_WORD_MASK,
                         __ATOMIC_RELEASE);
        wsh_nic_counter_host(job, NUMBER);
    }
    for (int i = 0; i < READERS; i++)
        pthread_join(reader[i], NULL);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(wsh_nic_counter_host(job, NUMBER), STEPS * STEP);
    finish();
}

/* Nobody fetches: who progresses looks. */
static void sampled_at(void)
{
    start(0, 0);
    job->counters.nic.n[WSH_NIC_HOST] = 1;
    for (uint64_t n = 1; n <= 8; n++) {
        words[0] = (n << 29) & WSH_NIC_WORD_MASK;
        job->counters.nic.sampled_at[WSH_NIC_HOST] = 0;
        for (int i = 0; i < 64; i++)
            wsh_nic_counters_keep(job, &job->counters.nic);
    }
    CU_ASSERT_EQUAL(wsh_nic_counter_host(job, NUMBER), 8ull << 29);
    finish();
}

const struct unit_test unit_tests[] = {
    {"31 bits are extended to 64", extends},
    {"a counter is the sum of its NICs' words", sums},
    {"threads that look at once extend alike", several_readers},
    {"words that nobody fetches are looked at", sampled_at},
    {NULL, NULL},
};
