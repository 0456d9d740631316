/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the table of pairs: test/ep/print_pairs >test/ep/pairs.txt, after a change of test/ep/pairs.c. */
#include "test/ep/pairs.h"

int main(void)
{
    static struct pairs_case cases[PAIRS_MOST];

    for (int i = 0, n = pairs_make(cases); i < n; i++) {
        pairs_print(&cases[i], stdout);
        putchar('\n');
    }
    return 0;
}
