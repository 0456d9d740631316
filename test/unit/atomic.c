/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU performs every atomic on 4- and 8-byte words, leaves the bytes beside them alone, and loses none. */
#include "base/atomic.h"

#include "test/common/unit.h"

#include <pthread.h>

struct row {
    enum wsh_amo_op op;
    uint64_t operand, compare, old, new;
    bool returns_old;
};

static const struct row rows[] = {
    {WSH_AMO_FETCH, 0, 0, 5, 5, true},
    {WSH_AMO_SET, 9, 0, 5, 9, false},
    {WSH_AMO_SWAP, 9, 0, 5, 9, true},
    {WSH_AMO_CSWAP, 9, 5, 5, 9, true},
    {WSH_AMO_CSWAP, 9, 6, 5, 5, true},
    {WSH_AMO_ADD, 7, 0, 5, 12, true},
    {WSH_AMO_ADD, (uint64_t)-6, 0, 5, (uint64_t)-1, true},
    {WSH_AMO_AND, 4, 0, 5, 4, true},
    {WSH_AMO_OR, 10, 0, 5, 15, true},
    {WSH_AMO_XOR, 6, 0, 5, 3, true},
};

static void every_operation_is_right(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        uint64_t wide = row->old, old;
        uint32_t narrow[3] = {0xdddddddd, (uint32_t)row->old, 0xdddddddd};

        old = wsh_amo_apply(&wide, row->op, 8, row->operand, row->compare);
        CU_ASSERT_EQUAL(wide, row->new);
        CU_ASSERT(!row->returns_old || old == row->old);
        old = wsh_amo_apply(&narrow[1], row->op, 4, row->operand, row->compare);
        CU_ASSERT_EQUAL(narrow[1], (uint32_t)row->new);
        CU_ASSERT(!row->returns_old || (uint32_t)old == (uint32_t)row->old);
        CU_ASSERT(narrow[0] == 0xdddddddd && narrow[2] == 0xdddddddd);
    }
}

static void results_have_their_width(void)
{
    unsigned char result[12];

    memset(result, 0xee, sizeof result);
    wsh_amo_store_result(result + 2, 4, 0x1122334455667788);
    CU_ASSERT(result[1] == 0xee && result[6] == 0xee);
    CU_ASSERT(!memcmp(result + 2, &(uint32_t){0x55667788}, 4));
    wsh_amo_store_result(result + 3, 8, 0x1122334455667788);
    CU_ASSERT(result[11] == 0xee && !memcmp(result + 3, &(uint64_t){0x1122334455667788}, 8));
}

#define ADDS 50000

static uint64_t shared_wide;
static uint32_t shared_narrow;

static void *add_many(void *arg)
{
    (void)arg;
    for (int n = 0; n < ADDS; n++) {
        wsh_amo_apply(&shared_wide, WSH_AMO_ADD, 8, 1, 0);
        wsh_amo_apply(&shared_narrow, WSH_AMO_ADD, 4, 1, 0);
    }
    return NULL;
}

static void threads_lose_no_update(void)
{
    pthread_t threads[3];

    for (int t = 0; t < 3; t++)
        pthread_create(&threads[t], NULL, add_many, NULL);
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    CU_ASSERT_EQUAL(shared_wide, 3 * ADDS);
    CU_ASSERT_EQUAL(shared_narrow, 3 * ADDS);
}

const struct unit_test unit_tests[] = {
    {"every operation is right", every_operation_is_right},
    {"results have their width", results_have_their_width},
    {"threads lose no update", threads_lose_no_update},
    {NULL, NULL},
};
