/* SPDX-License-Identifier: BSD-3-Clause */
/* The search. */
#include "test/common/search.h"

#include <stdlib.h>
#include <string.h>

static uint64_t *table; /* fingerprints of the states visited, 0: free */
static size_t table_size, table_used;
static unsigned char *stack;

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd6e8feb86659fd93);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Four chains, because one waits for each of its multiplications. */
static uint64_t fingerprint(const struct search *search)
{
    const unsigned char *bytes = search->world;
    uint64_t chain[4] = {1, 2, 3, 4}, part[8] = {0};
    size_t at = 0;

    for (; at + sizeof part <= search->size; at += sizeof part) {
        memcpy(part, bytes + at, sizeof part);
        for (int i = 0; i < 4; i++)
            chain[i] = mix(chain[i] ^ part[i], part[i + 4]) + chain[i];
    }
    memset(part, 0, sizeof part);
    memcpy(part, bytes + at, search->size - at);
    for (int i = 0; i < 4; i++)
        chain[i] = mix(chain[i] ^ part[i], part[i + 4]) + chain[i];
    chain[0] = mix(mix(chain[0], chain[1]), mix(chain[2], chain[3]));
    return chain[0] ? chain[0] : 1;
}

static bool insert(uint64_t *into, size_t size, uint64_t print)
{
    size_t at = print & (size - 1);

    while (into[at] && into[at] != print)
        at = (at + 1) & (size - 1);
    if (into[at])
        return false;
    into[at] = print;
    return true;
}

static void table_grow(void)
{
    uint64_t *larger = calloc(2 * table_size, sizeof *larger);

    if (!larger)
        exit(99);
    for (size_t i = 0; i < table_size; i++) {
        if (table[i])
            insert(larger, 2 * table_size, table[i]);
    }
    free(table);
    table = larger;
    table_size *= 2;
}

static bool visited(const struct search *search)
{
    if (2 * table_used >= table_size)
        table_grow();
    if (!insert(table, table_size, fingerprint(search)))
        return true;
    table_used++;
    return false;
}

static bool explore(struct search *search, int depth)
{
    unsigned char *saved = stack + (size_t)depth * search->size;
    bool moved = false;

    if (depth >= SEARCH_DEPTH_MAX)
        *search->wrong = "runs for ever";
    if (*search->wrong)
        return false;
    if (visited(search))
        return true;
    if (depth > search->deepest)
        search->deepest = depth;
    memcpy(saved, search->world, search->size);
    for (int step = 0; step < search->steps; step++) {
        if (!search->step(step))
            continue;
        moved = true;
        search->taken++;
        search->trace[depth] = step;
        if (!explore(search, depth + 1))
            return false;
        memcpy(search->world, saved, search->size);
    }
    search->trace[depth] = -1;
    if (!moved)
        search->at_end();
    return !*search->wrong;
}

void search_run(struct search *search)
{
    table_size = 1024;
    table_used = 0;
    table = calloc(table_size, sizeof *table);
    stack = malloc(SEARCH_DEPTH_MAX * search->size);
    if (!table || !stack)
        exit(99);
    memset(search->trace, 0xff, sizeof search->trace);
    search->taken = 0;
    search->deepest = 0;
    explore(search, 0);
    search->states = table_used;
    free(table);
    free(stack);
}
