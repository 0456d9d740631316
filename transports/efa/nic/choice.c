/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the rail of an operation, and the pieces into which a large one is cut over several rails. Pure. */
#include "transports/efa/nic/choice.h"

#include <stdbool.h>

#define PIECES 8 /* of an operation for each rail: a slow one then takes fewer */
#define PAGE ((size_t)4096)

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t wsh_efa_choice_piece(size_t len, uint32_t pieces, size_t most)
{
    size_t piece = (len + pieces - 1) / pieces;

    return least(pieces > 1 ? (piece + PAGE - 1) / PAGE * PAGE : piece, most);
}

size_t wsh_efa_choice_part(const struct wsh_efa_choice *choice, size_t len, size_t most)
{
    uint32_t n = choice->n * (choice->policy == WSH_EFA_ADAPTIVE ? PIECES : 1);
    size_t part = wsh_efa_choice_piece(len, n, SIZE_MAX);

    if (choice->policy == WSH_EFA_ROUND_ROBIN || len < 2 * WSH_EFA_STRIPE)
        return least(len, most);
    if (part < WSH_EFA_STRIPE)
        part = WSH_EFA_STRIPE;
    if (choice->policy == WSH_EFA_ADAPTIVE)
        part = least(part, WSH_EFA_STRIPE_MAX);
    return least(part, most);
}

/* Different ones of the last, with that one. */
static uint32_t peers_lately(const struct wsh_efa_choice *choice, int pe)
{
    uint32_t n = 1;

    for (uint32_t i = 0; i < WSH_EFA_LATELY; i++) {
        bool is_new = choice->lately[i] && choice->lately[i] != pe + 1;

        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = choice->lately[k] != choice->lately[i];
        n += is_new;
    }
    return n;
}

uint32_t wsh_efa_choice_pieces(const struct wsh_efa_choice *choice, uint32_t rails, int pe, size_t len)
{
    uint32_t n;

    if (rails < 2 || choice->policy == WSH_EFA_ROUND_ROBIN || len < 2 * WSH_EFA_STRIPE)
        return 1;
    n = (uint32_t)least(rails / peers_lately(choice, pe), len / WSH_EFA_STRIPE);
    return n ? n : 1;
}

/* The one that it is put to is one of them. */
void wsh_efa_choice_suppose(struct wsh_efa_choice *choice, uint32_t other_hosts)
{
    for (uint32_t i = 0; i < WSH_EFA_LATELY; i++)
        choice->lately[i] = other_hosts > 1 ? -1 - (int)(i % (other_hosts - 1)) : 0;
    choice->oldest = 0;
}

void wsh_efa_choice_note(struct wsh_efa_choice *choice, int pe, size_t len)
{
    if (len < WSH_EFA_STRIPE)
        return;
    choice->lately[choice->oldest] = pe + 1;
    choice->oldest = (choice->oldest + 1) % WSH_EFA_LATELY;
}

static uint64_t lightest(const struct wsh_efa_choice *choice, unsigned usable)
{
    uint64_t bytes = UINT64_MAX;

    for (uint32_t i = 0; i < choice->n; i++)
        if (usable >> i & 1 && choice->bytes[i] < bytes)
            bytes = choice->bytes[i];
    return bytes;
}

/* The next usable one in turn that has at most `bytes` under way; there is one. */
static int in_turn(struct wsh_efa_choice *choice, unsigned usable, uint64_t bytes)
{
    uint32_t i = choice->next;

    while (!(usable >> i & 1) || choice->bytes[i] > bytes)
        i = i + 1 < choice->n ? i + 1 : 0;
    choice->next = i + 1 < choice->n ? i + 1 : 0;
    return (int)i;
}

int wsh_efa_choice_rail(struct wsh_efa_choice *choice, unsigned usable, size_t len)
{
    uint64_t bytes;

    if (choice->policy != WSH_EFA_ADAPTIVE)
        return in_turn(choice, usable, UINT64_MAX);
    bytes = lightest(choice, usable);
    if (len >= WSH_EFA_STRIPE && bytes >= WSH_EFA_ROOM)
        return -1;
    return in_turn(choice, usable, len >= WSH_EFA_STRIPE ? bytes : bytes + WSH_EFA_SLACK);
}
