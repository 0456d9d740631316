/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Low latency: a combine with signals reads rows of y when their word has come, in whatever order words come, and what
 * it has pushed one by one before a word came is on its way: such rows are overwritten then. Words of experts, and of
 * so many rows of each. Sums are the reference's, bit for bit, reduced and not, with weights late, in halves and at
 * once. With WSH_TEST_LANES, whose code polls words itself, a thread writes rows and words.
 * paths: local:1,2,3 single
 * timeout: 60
 */
#include "test/ep/calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXPERTS_HERE = 3, TOKENS = 12, BLOCK = 5, VALUE = 7, WORDS_MAX = 64 };

/* The combine that is made: words, and the order in which they come. */
static struct {
    uint32_t *words; /* symmetric */
    int order[WORDS_MAX], count, given, rows;
    char *kept; /* y as it is to be */
    struct calls *calls;
    bool pushed; /* rows one by one */
    bool lanes;  /* a thread writes */
} now;

/* Rows of a word: as they are to be, or spoilt. */
static void set_rows(int word, bool good)
{
    size_t row = (size_t)now.calls->job.hidden * 2;
    int64_t capacity = now.calls->capacity, each = (capacity + now.rows - 1) / now.rows;
    int64_t first = word / each * capacity + word % each * now.rows;
    int64_t end = (word / each + 1) * capacity;
    char *y = (char *)now.calls->y;

    for (int64_t at = first; at < first + now.rows && at < end; at++) {
        if (good)
            memcpy(y + (size_t)at * row, now.kept + (size_t)at * row, row);
        else
            memset(y + (size_t)at * row, 0x7f, row);
    }
}

/* The library's waits come here: what has a word has been sent, where rows are pushed one by one. */
size_t shmem_uint32_wait_until_any(uint32_t *words, size_t n, const int *status, int compare, uint32_t value)
{
    int word;

    mp_check(words == now.words && n == (size_t)now.count && compare == SHMEM_CMP_GE && value == VALUE,
             "waits for %zu words", n);
    if (now.given == now.count) {
        mp_check(false, "all %d words have come, and it still waits", now.count);
        abort();
    }
    for (int i = 0; now.pushed && i < now.given; i++)
        set_rows(now.order[i], false);
    word = now.order[now.given++];
    mp_check(!status[word], "word %d is taken as one that has come", word);
    set_rows(word, true);
    now.words[word] = VALUE + (uint32_t)word % 2;
    return (size_t)word;
}

/* Rows and words while the call is made. */
static void *write_words(void *none)
{
    while (now.given < now.count) {
        int word = now.order[now.given++];

        usleep(100);
        set_rows(word, true);
        __atomic_store_n(&now.words[word], VALUE + (uint32_t)word % 2, __ATOMIC_RELEASE);
    }
    return none;
}

static void draw_order(uint64_t *state)
{
    for (int i = 0; i < now.count; i++)
        now.order[i] = i;
    for (int i = now.count - 1; i > 0; i--) {
        int j = (int)mp_random_below(state, (uint64_t)i + 1), kept = now.order[i];

        now.order[i] = now.order[j];
        now.order[j] = kept;
    }
}

static void combine(struct calls *calls, int rows, bool halves, uint64_t *state)
{
    size_t bytes = (size_t)(calls->kinds * calls->capacity) * (size_t)calls->job.hidden * 2;
    int each = rows ? (int)((calls->capacity + rows - 1) / rows) : 1;
    pthread_t writer;

    now.calls = calls;
    now.rows = rows ? rows : (int)calls->capacity;
    now.count = EXPERTS_HERE * each;
    now.given = 0;
    now.pushed = calls->job.exact || (halves && calls->combine.weights);
    now.kept = malloc(bytes);
    if (!now.kept || now.count > WORDS_MAX)
        abort();
    memcpy(now.kept, calls->y, bytes);
    memset(calls->y, 0x7f, bytes);
    memset(now.words, 0, WORDS_MAX * sizeof *now.words);
    draw_order(state);
    calls->combine.signals = now.words;
    calls->combine.signal_value = VALUE;
    calls->combine.signal_rows = rows;
    if (now.lanes && pthread_create(&writer, NULL, write_words, NULL))
        abort();
    calls_combine(calls, halves ? SHMEMX_EP_SEND : SHMEMX_EP_BOTH);
    if (halves)
        calls_combine(calls, SHMEMX_EP_RECEIVE);
    if (now.lanes)
        pthread_join(writer, NULL);
    calls_combined(calls);
    memcpy(calls->y, now.kept, bytes);
    free(now.kept);
}

static void rounds(bool exact, bool halves, long times)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = 1,
                          .experts = EXPERTS_HERE * mp_npes,
                          .topk = 2,
                          .tokens = TOKENS,
                          .hidden = 256,
                          .exact = exact,
                          .seed = mp_seed() + 9};
    struct calls_options options = {.halves = halves};
    uint64_t state = mp_seed() + (uint64_t)mp_me;
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, REF_LOW_LATENCY, REF_DIRECT, &options))
        return;
    for (long call = 0; call < times; call++) {
        calls_fill(&calls, call);
        calls_dispatch(&calls, SHMEMX_EP_BOTH);
        calls_received(&calls);
        combine(&calls, call % 3 ? BLOCK : 0, halves, &state);
    }
    calls_close(&calls);
}

int main(void)
{
    mp_begin();
    now.lanes = getenv("WSH_TEST_LANES") != NULL;
    now.words = shmem_malloc(WORDS_MAX * sizeof *now.words);
    if (!now.words)
        abort();
    for (int i = 0; i < 4; i++)
        rounds(i & 1, i & 2, mp_rounds(16, 500));
    shmem_free(now.words);
    return mp_end();
}
