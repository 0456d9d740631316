/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns NICs to the PEs of a host, given where all of them are. Pure. */
#include "topo/nicmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BIT(i) ((uint64_t)1 << (i))

/* Bridges to cross between a and b below their nearest common one; -1 if none is common. */
static int bridges_between(const struct wsh_topo_location *a, const struct wsh_topo_location *b)
{
    for (int i = 0; i < a->n_bridges; i++)
        for (int k = 0; k < b->n_bridges; k++)
            if (a->bridge[i] == b->bridge[k])
                return i + k;
    return -1;
}

/* A switch shows itself as one bridge above and one bridge for each of its ports: two ports, one switch. */
enum wsh_distance wsh_nicmap_distance(const struct wsh_topo_location *a, const struct wsh_topo_location *b)
{
    int bridges = bridges_between(a, b);

    if (bridges >= 0)
        return bridges <= 2 ? WSH_DISTANCE_SWITCH : WSH_DISTANCE_SWITCHES;
    if (a->root >= 0 && a->root == b->root)
        return WSH_DISTANCE_BRIDGE;
    if (a->numa >= 0 && a->numa == b->numa)
        return WSH_DISTANCE_NODE;
    if (a->package >= 0 && a->package == b->package)
        return WSH_DISTANCE_PACKAGE;
    if ((a->numa >= 0 && b->numa >= 0) || (a->package >= 0 && b->package >= 0))
        return WSH_DISTANCE_MACHINE;
    return WSH_DISTANCE_UNKNOWN;
}

struct sharing {
    const struct wsh_nicmap_request *request;
    struct wsh_topo_rails *rails;
    uint64_t *nearest; /* [n_pes] */
    int uses[WSH_TOPO_NICS];
};

static enum wsh_distance distance_of(const struct wsh_nicmap_request *request, int pe, int nic)
{
    return wsh_nicmap_distance(request->pe[pe], &request->nic[nic].location);
}

static uint64_t nearest_of(const struct wsh_nicmap_request *request, int pe)
{
    enum wsh_distance least = WSH_DISTANCES;
    uint64_t set = 0;

    for (int i = 0; i < request->n_nics; i++) {
        enum wsh_distance distance = distance_of(request, pe, i);

        if (!(request->usable & BIT(i)) || distance > least)
            continue;
        set = (distance < least ? 0 : set) | BIT(i);
        least = distance;
    }
    return set;
}

/* Nearer first, then less used, then by address, so that all PEs choose alike. */
static bool is_better(const struct sharing *s, int pe, int a, int b)
{
    const struct wsh_topo_dev *nic = s->request->nic;
    int order = (int)distance_of(s->request, pe, a) - (int)distance_of(s->request, pe, b);

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

        for (int i = 0; i < s->request->n_nics; i++)
            if ((set & BIT(i)) && (best < 0 || is_better(s, pe, i, best)))
                best = i;
        rails->rail[rails->n].nic = best;
        rails->rail[rails->n++].distance = distance_of(s->request, pe, best);
        s->uses[best]++;
        set &= ~BIT(best);
    }
}

/* NICs for each PE: the nearest of `pe`, divided by the number of PEs that have no others near. */
static int nics_share(const struct sharing *s, int pe)
{
    int nics = __builtin_popcountll(s->nearest[pe]), pes = 0, n;

    for (int i = 0; i < s->request->n_pes; i++)
        pes += !(s->nearest[i] & ~s->nearest[pe]);
    n = (nics + pes - 1) / pes;
    return n < WSH_TOPO_RAILS ? n : WSH_TOPO_RAILS;
}

/* Those with the fewest NICs near choose first: the others can avoid what these use. */
static void share_out_nics(struct sharing *s)
{
    for (int size = 1; size <= s->request->n_nics; size++)
        for (int pe = 0; pe < s->request->n_pes; pe++)
            if (__builtin_popcountll(s->nearest[pe]) == size)
                nics_take(s, pe, s->nearest[pe], s->request->per_pe ? s->request->per_pe : nics_share(s, pe));
    for (int pe = 0; pe < s->request->n_pes && s->request->per_pe; pe++)
        nics_take(s, pe, s->request->usable, s->request->per_pe);
}

int wsh_nicmap_make(const struct wsh_nicmap_request *request, struct wsh_topo_rails *rails)
{
    struct sharing s = {.request = request, .rails = rails};

    s.nearest = calloc((size_t)request->n_pes, sizeof s.nearest[0]);
    if (!s.nearest)
        return -ENOMEM;
    for (int pe = 0; pe < request->n_pes; pe++) {
        rails[pe].n = 0;
        s.nearest[pe] = nearest_of(request, pe);
    }
    share_out_nics(&s);
    free(s.nearest);
    return 0;
}
