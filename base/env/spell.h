/* SPDX-License-Identifier: BSD-3-Clause */
/* How near two words are, for names that users misspell. */
#ifndef WSH_BASE_SPELL_H
#define WSH_BASE_SPELL_H

#include <stddef.h>

#define WSH_SPELL_LONGEST 64

/*
 * Letters to insert, leave out or exchange until the first `len` letters of `word` are `other`; WSH_SPELL_LONGEST where
 * one is longer than that.
 */
size_t wsh_spell_distance(const char *word, size_t len, const char *other);

#endif
