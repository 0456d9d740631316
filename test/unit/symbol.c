/* SPDX-License-Identifier: BSD-3-Clause */
/* Global and static variables are named, with the distance from their begin; other memory is not. */
#define _GNU_SOURCE
#include "base/process/symbol.h"

#include "test/common/unit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

long symbol_box[3];
static long symbol_bell = 1;

static void says(const void *addr, const char *wanted)
{
    char text[64] = "before";

    wsh_symbol_name(addr, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, wanted);
}

static void variables_are_named(void)
{
    says(&symbol_bell, " (symbol_bell)");
    says(symbol_box, " (symbol_box)");
    says(symbol_box + 2, " (symbol_box + 16 bytes)");
}

static void other_memory_is_not(void)
{
    long automatic = symbol_bell;
    char *block = malloc(8);

    says(&automatic, "");
    says(block, "");
    says(NULL, "");
    free(block);
}

/* As much of the name as there is room for. */
static void room_is_kept(void)
{
    char text[8] = "before";

    wsh_symbol_name(&symbol_bell, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, " (symbo");
}

/* By the offset in the file, which is what a note of a crash has. */
static void routines_are_named(void)
{
    struct wsh_symbol symbol;
    Dl_info info;

    CU_ASSERT_TRUE(dladdr((void *)(uintptr_t)room_is_kept, &info) != 0);
    CU_ASSERT_TRUE(
        wsh_symbol_at("/proc/self/exe", (uintptr_t)room_is_kept + 1 - (uintptr_t)info.dli_fbase, &symbol));
    CU_ASSERT_STRING_EQUAL(symbol.name, "room_is_kept");
    CU_ASSERT_EQUAL(symbol.within, 1);
    CU_ASSERT_FALSE(wsh_symbol_at("/proc/self/exe", (uint64_t)1 << 40, &symbol));
    CU_ASSERT_FALSE(wsh_symbol_at("/proc/self/none", 0, &symbol));
}

const struct unit_test unit_tests[] = {
    {"global and static variables are named", variables_are_named},
    {"automatic variables, the heap and NULL are not", other_memory_is_not},
    {"a long name is cut", room_is_kept},
    {"routines are named by their place in the file", routines_are_named},
    {NULL, NULL},
};
