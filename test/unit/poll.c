/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that polls leaves its core to others where PEs have less than a core each; one that reads keeps it. */
#define _GNU_SOURCE
#include "runtime/wait/poll.h"

#include "runtime/op/wait_words.h"
#include "runtime/wait/wait.h"
#include "test/common/unit.h"

#include <sched.h>
#include <time.h>

static struct wsh_job job;
static int yields;
static double each =
    1e-7; /* seconds that a look at the clock takes, so that loops have a length of their own */
static double fake;

/* These two stand for those of libc. */
int sched_yield(void)
{
    return yields++, 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    (void)clock;
    *ts = (struct timespec){(time_t)fake, (long)((fake - (double)(time_t)fake) * 1e9)};
    return 0;
}

/* A thousand calls that read words of `n` in turn, `seconds` apart: how often they yield. */
static int reads(int n, double seconds)
{
    static uint64_t words[2000];

    yields = 0;
    for (int i = 0; i < 1000; i++) {
        fake += seconds;
        wsh_poll_read(&job, &words[i % n]);
    }
    return yields;
}

static void yields_where_the_same_words_are_read(void)
{
    wsh_wait_tune(&job, 4, 2);
    CU_ASSERT(reads(1, each) >= 1000 / WSH_POLL_READS - 2);
    CU_ASSERT(reads(5, each) >= 1000 / WSH_POLL_READS - 6);
}

static void keeps_the_core_where_words_differ(void)
{
    wsh_wait_tune(&job, 4, 2);
    CU_ASSERT(reads(1000, each) <= 1);
}

static void keeps_the_core_of_a_loop_that_works(void)
{
    wsh_wait_tune(&job, 4, 2);
    CU_ASSERT_EQUAL(reads(1, 1e-4), 0);
}

static void counts_what_a_word_held(void)
{
    static uint64_t word;

    wsh_wait_tune(&job, 4, 2);
    yields = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        fake += each;
        wsh_poll_seen(&job, &word, i); /* a counter that the program counts up */
    }
    CU_ASSERT_EQUAL(yields, 0);
    for (int i = 0; i < 1000; i++) {
        fake += each;
        wsh_poll_seen(&job, &word, 7); /* a lock that is held */
    }
    CU_ASSERT(yields >= 1000 / WSH_POLL_READS - 2);
}

/* A thousand tests of a word that stays as it is. */
static int tests(void)
{
    static long word;
    const long wanted = 1;
    const struct wsh_p2p p2p = {"shmem_long_test", &word, 1, NULL, &wanted, false, WSH_WORD_I64, WSH_CMP_EQ};

    yields = 0;
    for (int i = 0; i < 1000; i++) {
        fake += each;
        CU_ASSERT(!wsh_p2p_test(&job, &p2p));
    }
    return yields;
}

static void yields_where_tests_fail(void)
{
    wsh_wait_tune(&job, 4, 2);
    CU_ASSERT(tests() >= 1000 / WSH_POLL_TESTS - 2);
    wsh_wait_tune(&job, 2, 2);
    CU_ASSERT_EQUAL(tests(), 0);
}

const struct unit_test unit_tests[] = {
    {"yields where the same words are read again and again", yields_where_the_same_words_are_read},
    {"keeps the core where words differ", keeps_the_core_where_words_differ},
    {"keeps the core of a loop that works between its polls", keeps_the_core_of_a_loop_that_works},
    {"takes a word that changes for no poll", counts_what_a_word_held},
    {"yields where tests fail, unless each PE has a core", yields_where_tests_fail},
    {NULL, NULL},
};
