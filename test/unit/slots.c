/* SPDX-License-Identifier: BSD-3-Clause */
/* An object that was given back keeps what it held until it is taken again, in turn, and then is zeros. */
#include "runtime/memory/slots.h"

#include "test/common/unit.h"

#include <string.h>

struct thing {
    long words[5];
};

static void keeps_what_was_given_back(void)
{
    static struct wsh_slots slots = WSH_SLOTS_OF(struct thing); /* keeps them, as it should */
    struct thing *things[3], *again;

    for (int i = 0; i < 3; i++) {
        things[i] = wsh_slots_take(&slots);
        CU_ASSERT(things[i]->words[0] == 0 && things[i]->words[4] == 0);
        things[i]->words[0] = things[i]->words[4] = 10 + i;
    }
    for (int i = 2; i >= 0; i--)
        wsh_slots_give(&slots, things[i]);
    wsh_slots_give(&slots, NULL);
    for (int i = 0; i < 3; i++)
        CU_ASSERT(things[i]->words[0] == 10 + i && things[i]->words[4] == 10 + i);
    again = wsh_slots_take(&slots); /* the one that was given back first */
    CU_ASSERT(again == things[2] && again->words[0] == 0 && again->words[4] == 0);
    CU_ASSERT(wsh_slots_take(&slots) == things[1]);
    CU_ASSERT(wsh_slots_take(&slots) == things[0]);
    wsh_slots_give(&slots, again);
    CU_ASSERT(wsh_slots_take(&slots) == again);
    for (int i = 0; i < 3; i++)
        wsh_slots_give(&slots, things[i]);
}

const struct unit_test unit_tests[] = {
    {"what was given back stays, and is taken in that order", keeps_what_was_given_back},
    {NULL, NULL},
};
