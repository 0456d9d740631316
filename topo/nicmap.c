/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns NICs to the PEs of a host, given where all of them are. Pure. */
#include "topo/nicmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BIT(i) ((uint64_t)1 << (i))

/* Bridges to cross between a and b below their nearest common one; -1 if none is common. */
static int bridges_between(const struct wsh_topo_place *a, const struct wsh_topo_place *b)
{
    for (int i = 0; i < a->n_bridges; i++)
        for (int k = 0; k < b->n_bridges; k++)
            if (a->bridge[i] == b->bridge[k])
                return i + k;
    return -1;
}

/* A switch shows itself as one bridge above and one bridge for each of its ports: two ports, one switch. */
enum wsh_far wsh_nicmap_far(const struct wsh_topo_place *a, const struct wsh_topo_place *b)
{
    int bridges = bridges_between(a, b);

    if (bridges >= 0)
        return bridges <= 2 ? WSH_FAR_SWITCH : WSH_FAR_SWITCHES;
    if (a->root >= 0 && a->root == b->root)
        return WSH_FAR_BRIDGE;
    if (a->numa >= 0 && a->numa == b->numa)
        return WSH_FAR_NODE;
    if (a->package >= 0 && a->package == b->package)
        return WSH_FAR_PACKAGE;
    if ((a->numa >= 0 && b->numa >= 0) || (a->package >= 0 && b->package >= 0))
        return WSH_FAR_MACHINE;
    return WSH_FAR_UNKNOWN;
}

struct sharing {
    const struct wsh_nicmap_ask *ask;
    struct wsh_topo_rails *rails;
    uint64_t *nearest; /* [n_pes] */
    int uses[WSH_TOPO_NICS];
};

static enum wsh_far far_of(const struct wsh_nicmap_ask *ask, int pe, int nic)
{
    return wsh_nicmap_far(ask->pe[pe], &ask->nic[nic].place);
}

static uint64_t nearest_of(const struct wsh_nicmap_ask *ask, int pe)
{
    enum wsh_far least = WSH_FARS;
    uint64_t set = 0;

    for (int i = 0; i < ask->n_nics; i++) {
        enum wsh_far far = far_of(ask, pe, i);

        if (!(ask->usable & BIT(i)) || far > least)
            continue;
        set = (far < least ? 0 : set) | BIT(i);
        least = far;
    }
    return set;
}

/* Nearer first, then less used, then by address, so that all PEs choose alike. */
static bool is_better(const struct sharing *s, int pe, int a, int b)
{
    const struct wsh_topo_dev *nic = s->ask->nic;
    int order = (int)far_of(s->ask, pe, a) - (int)far_of(s->ask, pe, b);

    if (!order)
        order = s->uses[a] - s->uses[b];
    if (!order)
        order = strcmp(nic[a].pci, nic[b].pci);
    if (!order)
        order = strcmp(nic[a].name, nic[b].name);
    return order < 0;
}

/* Gives the PE NICs from the set until it has `want`. */
static void nics_take(struct sharing *s, int pe, uint64_t set, int want)
{
    struct wsh_topo_rails *rails = &s->rails[pe];

    for (int i = 0; i < rails->n; i++)
        set &= ~BIT(rails->rail[i].nic);
    while (set && rails->n < want) {
        int best = -1;

        for (int i = 0; i < s->ask->n_nics; i++)
            if ((set & BIT(i)) && (best < 0 || is_better(s, pe, i, best)))
                best = i;
        rails->rail[rails->n].nic = best;
        rails->rail[rails->n++].far = far_of(s->ask, pe, best);
        s->uses[best]++;
        set &= ~BIT(best);
    }
}

/* NICs for each PE: the nearest of `pe`, divided by the number of PEs that have no others near. */
static int nics_share(const struct sharing *s, int pe)
{
    int nics = __builtin_popcountll(s->nearest[pe]), pes = 0, n;

    for (int i = 0; i < s->ask->n_pes; i++)
        pes += !(s->nearest[i] & ~s->nearest[pe]);
    n = (nics + pes - 1) / pes;
    return n < WSH_TOPO_RAILS ? n : WSH_TOPO_RAILS;
}

/* Those with the fewest NICs near choose first: the others can avoid what these use. */
static void share_out_nics(struct sharing *s)
{
    for (int size = 1; size <= s->ask->n_nics; size++)
        for (int pe = 0; pe < s->ask->n_pes; pe++)
            if (__builtin_popcountll(s->nearest[pe]) == size)
                nics_take(s, pe, s->nearest[pe], s->ask->per_pe ? s->ask->per_pe : nics_share(s, pe));
    for (int pe = 0; pe < s->ask->n_pes && s->ask->per_pe; pe++)
        nics_take(s, pe, s->ask->usable, s->ask->per_pe);
}

int wsh_nicmap_make(const struct wsh_nicmap_ask *ask, struct wsh_topo_rails *rails)
{
    struct sharing s = {.ask = ask, .rails = rails};

    s.nearest = calloc((size_t)ask->n_pes, sizeof s.nearest[0]);
    if (!s.nearest)
        return -ENOMEM;
    for (int pe = 0; pe < ask->n_pes; pe++) {
        rails[pe].n = 0;
        s.nearest[pe] = nearest_of(ask, pe);
    }
    share_out_nics(&s);
    free(s.nearest);
    return 0;
}
