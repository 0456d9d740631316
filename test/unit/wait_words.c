/* SPDX-License-Identifier: BSD-3-Clause */
/* Words are compared as their type says, sets honour their mask, and searches are fair. */
#include "runtime/op/wait_words.h"

#include "runtime/job/job.h"
#include "test/common/unit.h"

#include <string.h>

#define N 6

static struct wsh_job job;

static bool test_one(enum wsh_word word, enum wsh_cmp cmp, const void *ivar, const void *value)
{
    struct wsh_p2p p2p = {
        .routine = "test", .ivars = ivar, .nelems = 1, .values = value, .word = word, .cmp = cmp};

    return wsh_p2p_test(&job, &p2p);
}

/* Results in the order EQ NE GT LE LT GE, for a < b, a == b, a > b. */
static const bool expected[3][WSH_CMPS] = {
    {false, true, false, true, true, false},
    {true, false, false, true, false, true},
    {false, true, true, false, false, true},
};

static void check_kind(enum wsh_word word, const void *low, const void *high)
{
    for (int cmp = 0; cmp < WSH_CMPS; cmp++) {
        CU_ASSERT_EQUAL(test_one(word, (enum wsh_cmp)cmp, low, high), expected[0][cmp]);
        CU_ASSERT_EQUAL(test_one(word, (enum wsh_cmp)cmp, low, low), expected[1][cmp]);
        CU_ASSERT_EQUAL(test_one(word, (enum wsh_cmp)cmp, high, low), expected[2][cmp]);
    }
}

static void compares_by_type(void)
{
    check_kind(WSH_WORD_I16, &(int16_t){-5}, &(int16_t){3});
    check_kind(WSH_WORD_U16, &(uint16_t){3}, &(uint16_t){0xfff0});
    check_kind(WSH_WORD_I32, &(int32_t){-5}, &(int32_t){3});
    check_kind(WSH_WORD_U32, &(uint32_t){3}, &(uint32_t){0xfffffff0});
    check_kind(WSH_WORD_I64, &(int64_t){-5}, &(int64_t){3});
    check_kind(WSH_WORD_U64, &(uint64_t){3}, &(uint64_t){0xfffffffffffffff0});
}

/* A comparison must not read its neighbours. */
static void reads_only_its_word(void)
{
    int32_t words[3] = {-1, 7, -1}, value = 7;
    int16_t halves[3] = {-1, 7, -1}, half = 7;

    CU_ASSERT(test_one(WSH_WORD_I16, WSH_CMP_EQ, &halves[1], &half));

    CU_ASSERT(test_one(WSH_WORD_I32, WSH_CMP_EQ, &words[1], &value));
}

static struct wsh_p2p set_of(const int64_t *words, const int *status, const int64_t *values, bool every)
{
    return (struct wsh_p2p){.routine = "test",
                            .ivars = words,
                            .nelems = N,
                            .status = status,
                            .values = values,
                            .every = every,
                            .word = WSH_WORD_I64,
                            .cmp = WSH_CMP_EQ};
}

static void honours_the_mask(void)
{
    int64_t words[N] = {1, 9, 1, 9, 1, 9}, one = 1;
    int status[N] = {0, 1, 0, 1, 0, 1};
    struct wsh_p2p p2p = set_of(words, status, &one, false);
    size_t indices[N], index;

    CU_ASSERT(wsh_p2p_test_all(&job, &p2p));
    CU_ASSERT(wsh_p2p_wait_all(&job, &p2p) == 0);
    CU_ASSERT(wsh_p2p_test_some(&job, &p2p, indices) == 3);
    CU_ASSERT(indices[0] == 0 && indices[1] == 2 && indices[2] == 4);
    index = wsh_p2p_test_any(&job, &p2p);
    CU_ASSERT(index < N && !status[index]);
    p2p.status = NULL;
    CU_ASSERT(!wsh_p2p_test_all(&job, &p2p));
}

static void compares_with_each_value(void)
{
    int64_t words[N] = {10, 11, 12, 13, 14, 15}, values[N] = {10, 11, 0, 13, 0, 15};
    struct wsh_p2p p2p = set_of(words, NULL, values, true);
    size_t indices[N];

    CU_ASSERT(!wsh_p2p_test_all(&job, &p2p));
    CU_ASSERT(wsh_p2p_test_some(&job, &p2p, indices) == 4 && indices[2] == 3 && indices[3] == 5);
    memcpy(values, words, sizeof words);
    CU_ASSERT(wsh_p2p_test_all(&job, &p2p));
}

static void empty_sets_end_at_once(void)
{
    int64_t words[N] = {0}, one = 1;
    int all[N] = {1, 1, 1, 1, 1, 1};
    struct wsh_p2p masked = set_of(words, all, &one, false), none = masked;
    size_t index = 5, n = 5, indices[N];

    none.nelems = 0;
    none.status = NULL;
    for (int i = 0; i < 2; i++) {
        const struct wsh_p2p *p2p = i ? &none : &masked;

        CU_ASSERT(wsh_p2p_wait_all(&job, p2p) == 0 && wsh_p2p_test_all(&job, p2p));
        CU_ASSERT(wsh_p2p_wait_any(&job, p2p, &index) == 0 && index == WSH_P2P_NONE);
        CU_ASSERT(wsh_p2p_wait_some(&job, p2p, indices, &n) == 0 && n == 0);
        CU_ASSERT(wsh_p2p_test_any(&job, p2p) == WSH_P2P_NONE);
        CU_ASSERT(wsh_p2p_test_some(&job, p2p, indices) == 0);
    }
}

static void any_is_fair(void)
{
    int64_t words[N] = {1, 1, 1, 1, 1, 1}, one = 1;
    struct wsh_p2p p2p = set_of(words, NULL, &one, false);
    bool waited[N] = {false}, tested[N] = {false};
    int left = 2 * N;

    for (int n = 0; n < 20 * N; n++) {
        size_t index;

        wsh_p2p_wait_any(&job, &p2p, &index);
        left -= !waited[index];
        waited[index] = true;
        index = wsh_p2p_test_any(&job, &p2p);
        left -= !tested[index];
        tested[index] = true;
    }
    CU_ASSERT_EQUAL(left, 0);
}

const struct unit_test unit_tests[] = {
    {"compares by type", compares_by_type},
    {"reads only its word", reads_only_its_word},
    {"honours the mask", honours_the_mask},
    {"compares with each value", compares_with_each_value},
    {"empty sets end at once", empty_sets_end_at_once},
    {"any is fair", any_is_fair},
    {NULL, NULL},
};
