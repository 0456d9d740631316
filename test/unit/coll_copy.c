/* SPDX-License-Identifier: BSD-3-Clause */
/* Each way to copy a block moves exactly its bytes, at every alignment, and large calls leave memcpy where one can. */
#include "runtime/coll/memory/copy.h"

#include "test/common/unit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_MAX 3
#define MARGIN 32
#define LEN_MAX ((size_t)3 * 4096 + 77)

/* What calls of 1 B, 2 B, 4 B … choose: found without knowing the size of this machine's caches. */
static int list_copies(wsh_copy_fn *copies[COPIES_MAX])
{
    int n = 0;

    for (size_t touched = 1; touched; touched <<= 1) {
        wsh_copy_fn *copy = wsh_coll_copy_for(touched);

        if (n && copies[n - 1] == copy)
            continue;
        CU_ASSERT_FATAL(n < COPIES_MAX);
        copies[n++] = copy;
    }
    return n;
}

static void check_copy(wsh_copy_fn *copy, size_t to, size_t from, size_t len)
{
    static unsigned char dest[LEN_MAX + 2 * MARGIN], src[LEN_MAX + 2 * MARGIN];
    size_t wrong = 0;

    memset(dest, 0xee, sizeof dest);
    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (unsigned char)(i * 7 + len);
    copy(dest + to, src + from, len);
    for (size_t i = 0; i < sizeof dest; i++)
        wrong += dest[i] != (i >= to && i < to + len ? src[from + i - to] : 0xee);
    CU_ASSERT_EQUAL(wrong, 0);
}

static void bytes_and_neighbours(void)
{
    static const size_t lens[] = {0, 1, 2, 15, 16, 17, 31, 33, 64, 100, 4096, LEN_MAX};
    wsh_copy_fn *copies[COPIES_MAX];
    int n = list_copies(copies);

    for (int w = 0; w < n; w++)
        for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
            for (size_t to = 0; to < 17; to++)
                for (size_t from = 0; from < 17; from += 3)
                    check_copy(copies[w], to, from, lens[i]);
}

static void larger_calls_change_once(void)
{
    wsh_copy_fn *copies[COPIES_MAX];
    int n = list_copies(copies);

    if (n == 1)
        unit_skip("this machine does not tell how large its last cache is, or has one way to copy");
    for (int w = 1; w < n; w++)
        for (int other = 0; other < w; other++)
            CU_ASSERT(copies[w] != copies[other]);
}

const struct unit_test unit_tests[] = {
    {"each way to copy moves its bytes and no others", bytes_and_neighbours},
    {"a copy routine that was left is not chosen for larger calls", larger_calls_change_once},
    {NULL, NULL},
};
