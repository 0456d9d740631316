/* SPDX-License-Identifier: BSD-3-Clause */
/* The edit distance of Levenshtein. */
#include "base/env/spell.h"

#include <string.h>

/* The distance of every beginning of one to every beginning of the other, row by row. */
size_t wsh_spell_distance(const char *word, size_t len, const char *other)
{
    size_t row[WSH_SPELL_LONGEST + 1], n = strlen(other);

    if (n > WSH_SPELL_LONGEST || len > WSH_SPELL_LONGEST)
        return WSH_SPELL_LONGEST;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= len; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = corner + (word[i - 1] != other[j - 1]);

            corner = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}
