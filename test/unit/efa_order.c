/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/order.c: what may start after a fence, by what the provider orders itself. */
#include "test/common/unit.h"
#include "transports/efa/order.h"

static const struct {
    const char *name;
    enum wsh_efa_kind before, after;
    bool waw, saw, raw, may;
} cases[] = {
    {"write, fence, write", EFA_WRITE, EFA_WRITE, false, true, true, false},
    {"write, fence, write with WAW", EFA_WRITE, EFA_WRITE, true, false, false, true},
    {"write, fence, message", EFA_WRITE, EFA_MSG, true, false, true, false},
    {"write, fence, message with SAW", EFA_WRITE, EFA_MSG, false, true, false, true},
    {"write, fence, read", EFA_WRITE, EFA_READ, true, true, false, false},
    {"write, fence, read with RAW", EFA_WRITE, EFA_READ, false, false, true, true},
    {"message, fence, message", EFA_MSG, EFA_MSG, false, false, false, true},
    {"message, fence, write", EFA_MSG, EFA_WRITE, true, true, true, false},
    {"message, fence, read", EFA_MSG, EFA_READ, true, true, true, false},
    {"parked, fence, write", EFA_PARKED, EFA_WRITE, true, true, true, false},
    {"parked, fence, message", EFA_PARKED, EFA_MSG, true, true, true, false},
    {"parked, fence, read", EFA_PARKED, EFA_READ, true, true, true, false},
    {"read, fence, write", EFA_READ, EFA_WRITE, false, false, false, true},
    {"read, fence, message", EFA_READ, EFA_MSG, false, false, false, true},
};

static void table(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wsh_efa_order order = {.behind = 0};
        struct wsh_efa_native native;

        wsh_efa_native_set(&native, cases[i].waw, cases[i].saw, cases[i].raw);
        order.out[cases[i].before] = 1;
        CU_ASSERT(wsh_efa_order_may(&order, 0, &native, cases[i].after)); /* no fence yet */
        CU_ASSERT_EQUAL(wsh_efa_order_may(&order, 1, &native, cases[i].after), cases[i].may);
        CU_ASSERT_EQUAL(wsh_efa_order_may(&order, 1, &native, cases[i].after), cases[i].may);
        order.out[cases[i].before] = 0;
        CU_ASSERT(wsh_efa_order_may(&order, 1, &native, cases[i].after));
    }
}

/* What starts after the fence holds nobody up who comes after it too. */
static void later_ones_do_not_count(void)
{
    struct wsh_efa_order order = {.behind = 0};
    struct wsh_efa_native native;

    wsh_efa_native_set(&native, false, false, false);
    CU_ASSERT(wsh_efa_order_may(&order, 1, &native, EFA_WRITE)); /* nothing before */
    order.out[EFA_WRITE] = 3;
    CU_ASSERT(wsh_efa_order_may(&order, 1, &native, EFA_WRITE));
    CU_ASSERT(!wsh_efa_order_may(&order, 2, &native, EFA_WRITE));
}

/* put A, fence, small p B as a message, fence, large put C: C waits for B, natively ordered or not. */
static void chain(void)
{
    struct wsh_efa_order order = {.behind = 0};
    struct wsh_efa_native native;

    wsh_efa_native_set(&native, true, true, true);
    order.out[EFA_WRITE] = 1;
    CU_ASSERT(wsh_efa_order_may(&order, 1, &native, EFA_MSG));
    order.out[EFA_MSG] = 1;
    CU_ASSERT(!wsh_efa_order_may(&order, 2, &native, EFA_WRITE));
    order.out[EFA_WRITE] = 0;
    CU_ASSERT(!wsh_efa_order_may(&order, 2, &native, EFA_WRITE));
    order.out[EFA_MSG] = 0;
    CU_ASSERT(wsh_efa_order_may(&order, 2, &native, EFA_WRITE));
}

/* Whatever the number of fences, and where the epoch wraps. */
static void fence_after_fence(void)
{
    struct wsh_efa_order order = {.behind = 0};
    struct wsh_efa_native native;

    wsh_efa_native_set(&native, false, false, false);
    order.out[EFA_MSG] = 1;
    CU_ASSERT(!wsh_efa_order_may(&order, 1, &native, EFA_WRITE));
    CU_ASSERT(!wsh_efa_order_may(&order, 5, &native, EFA_WRITE)); /* still behind it after more fences */
    CU_ASSERT(!wsh_efa_order_may(&order, UINT32_MAX, &native, EFA_WRITE));
    CU_ASSERT(!wsh_efa_order_may(&order, 0, &native, EFA_WRITE));
    order.out[EFA_MSG] = 0;
    CU_ASSERT(wsh_efa_order_may(&order, 0, &native, EFA_WRITE));
    CU_ASSERT_EQUAL(order.behind, 0);
}

const struct unit_test unit_tests[] = {
    {"each kind waits for each other unless the provider orders them", table},
    {"operations after the fence do not hold each other up", later_ones_do_not_count},
    {"a chain of fences waits for the one in the middle", chain},
    {"several fences cover what was before the first", fence_after_fence},
    {NULL, NULL},
};
