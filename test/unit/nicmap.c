/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs get the nearest NICs, share them evenly, and all compute the same map, on machines of any shape. */
#include "topo/nicmap.h"

#include "test/common/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PES 40

/* A device below the switch `sw` (-1: none) of host bridge `root`, at that NUMA node and package. */
static struct wsh_topo_location location(int package, int numa, int root, int sw)
{
    struct wsh_topo_location at = {.numa = numa, .package = package, .root = root};

    if (sw >= 0)
        at.bridge[at.n_bridges++] = sw;
    return at;
}

static void tells_distances_apart(void)
{
    struct wsh_topo_location gpu = {.numa = 0, .package = 0, .root = 5, .n_bridges = 2, .bridge = {11, 10}};
    struct wsh_topo_location port = {.numa = 0, .package = 0, .root = 5, .n_bridges = 2, .bridge = {12, 10}};
    struct wsh_topo_location deep = {
        .numa = 0, .package = 0, .root = 5, .n_bridges = 4, .bridge = {22, 21, 13, 10}};
    struct wsh_topo_location other = location(0, 0, 5, 30), nowhere = location(-1, -1, -1, -1);
    struct wsh_topo_location elsewhere = location(0, 0, 6, 31), node = location(0, 1, 7, 32),
                             far = location(1, 2, 8, 33);

    CU_ASSERT_EQUAL(wsh_nicmap_distance(&gpu, &gpu), WSH_DISTANCE_SWITCH);
    CU_ASSERT_EQUAL(wsh_nicmap_distance(&gpu, &port), WSH_DISTANCE_SWITCH);
    CU_ASSERT_EQUAL(wsh_nicmap_distance(&gpu, &deep), WSH_DISTANCE_SWITCHES);
    CU_ASSERT_EQUAL(wsh_nicmap_distance(&gpu, &other), WSH_DISTANCE_BRIDGE);
    CU_ASSERT_EQUAL(wsh_nicmap_distance(&gpu, &elsewhere), WSH_DISTANCE_NODE);
    CU_ASSERT_EQUAL(wsh_nicmap_distance(&gpu, &node), WSH_DISTANCE_PACKAGE);
    CU_ASSERT_EQUAL(wsh_nicmap_distance(&gpu, &far), WSH_DISTANCE_MACHINE);
    CU_ASSERT_EQUAL(wsh_nicmap_distance(&gpu, &nowhere), WSH_DISTANCE_UNKNOWN);
    CU_ASSERT_EQUAL(wsh_nicmap_distance(&nowhere, &nowhere), WSH_DISTANCE_UNKNOWN);
}

struct host {
    struct wsh_topo_dev nic[WSH_TOPO_NICS];
    struct wsh_topo_location pe[PES];
    const struct wsh_topo_location *at[PES];
    struct wsh_nicmap_request request;
    struct wsh_topo_rails rails[PES];
};

static void init(struct host *host, int n_nics, int n_pes, int per_pe)
{
    memset(host, 0, sizeof *host);
    host->request =
        (struct wsh_nicmap_request){.nic = host->nic, .n_nics = n_nics, .pe = host->at, .n_pes = n_pes};
    host->request.per_pe = per_pe;
    host->request.usable = n_nics < 64 ? ((uint64_t)1 << n_nics) - 1 : ~(uint64_t)0;
    for (int i = 0; i < n_nics; i++) {
        snprintf(host->nic[i].name, sizeof host->nic[i].name, "nic%d", i);
        snprintf(host->nic[i].pci, sizeof host->nic[i].pci, "0000:%02x:00.0", i);
    }
    for (int i = 0; i < n_pes; i++)
        host->at[i] = &host->pe[i];
}

/* "0,1 2,3": the NICs of each PE. */
static void map_text(struct host *host, char *text, size_t size)
{
    size_t used = 0;

    CU_ASSERT_EQUAL_FATAL(wsh_nicmap_make(&host->request, host->rails), 0);
    text[0] = '\0';
    for (int pe = 0; pe < host->request.n_pes && used < size; pe++)
        for (int i = 0; i < host->rails[pe].n && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     i    ? ","
                                     : pe ? " "
                                          : "",
                                     host->nic[host->rails[pe].rail[i].nic].name + 3);
}

#define CHECK_MAP(host, wanted)                                         \
    do {                                                                \
        char text_[512];                                                \
        map_text(host, text_, sizeof text_);                            \
        CU_ASSERT_STRING_EQUAL(text_, wanted);                          \
        if (strcmp(text_, wanted))                                      \
            printf("map '%s' where '%s' is expected\n", text_, wanted); \
    } while (0)

/* Two NICs at each of two packages; PEs bound to packages 0, 0, 1 and to nothing. */
static void bound_pes_use_their_package(void)
{
    struct host host;

    init(&host, 4, 4, 0);
    for (int i = 0; i < 4; i++)
        host.nic[i].location = location(i / 2, i / 2, i, -1);
    host.pe[0] = host.pe[1] = location(0, 0, -1, -1);
    host.pe[2] = location(1, 1, -1, -1);
    host.pe[3] = location(-1, -1, -1, -1);
    CHECK_MAP(&host, "0 1 2,3 0");
    CU_ASSERT_EQUAL(host.rails[0].rail[0].distance, WSH_DISTANCE_NODE);
    CU_ASSERT_EQUAL(host.rails[3].rail[0].distance, WSH_DISTANCE_UNKNOWN);
    host.pe[1] = location(0, -1, -1, -1); /* bound to a package of several NUMA nodes */
    CHECK_MAP(&host, "0 1 2,3 0");
    CU_ASSERT_EQUAL(host.rails[1].rail[0].distance, WSH_DISTANCE_PACKAGE);
}

static void unbound_pes_take_nics_in_turn(void)
{
    struct host host;

    init(&host, 4, 6, 0);
    for (int i = 0; i < 4; i++)
        host.nic[i].location = location(i / 2, i / 2, i, -1);
    for (int i = 0; i < 6; i++)
        host.pe[i] = location(-1, -1, -1, -1);
    CHECK_MAP(&host, "0 1 2 3 0 1");
    host.request.n_pes = 3;
    CHECK_MAP(&host, "0,1 2,3 0,1");
    host.request.n_pes = 1;
    CHECK_MAP(&host, "0,1,2,3");
}

/* Four GPUs, one NIC at each, but for GPU 2, which has none near. */
static void a_gpu_without_nic_borrows_the_nearest(void)
{
    struct host host;

    init(&host, 3, 4, 0);
    for (int i = 0; i < 4; i++)
        host.pe[i] = location(i / 2, i / 2, i, i);
    host.nic[0].location = host.pe[0];
    host.nic[1].location = host.pe[1];
    host.nic[2].location = host.pe[3];
    CHECK_MAP(&host, "0 1 2 2");
    CU_ASSERT_EQUAL(host.rails[2].rail[0].distance, WSH_DISTANCE_NODE);
}

static void a_number_fills_up_with_farther_nics(void)
{
    struct host host;

    init(&host, 4, 4, 2);
    for (int i = 0; i < 4; i++)
        host.pe[i] = host.nic[i].location = location(i / 2, i / 2, i, i);
    CHECK_MAP(&host, "0,1 1,0 2,3 3,2");
    host.request.per_pe = 8;
    host.request.usable = 0xb;
    map_text(&host, (char[64]){0}, 64);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(host.rails[i].n, 3);
    host.request.usable = 0;
    CHECK_MAP(&host, "");
}

static unsigned seed = 1;

static int any(int n)
{
    return rand_r(&seed) / 7 % n;
}

static void make_random(struct host *host)
{
    int packages = 1 + any(2), switches = 1 + any(8), per_switch = 1 + any(4);

    init(host, switches * per_switch, 1 + any(PES), 0);
    for (int i = 0; i < host->request.n_nics; i++) {
        int sw = i / per_switch, package = sw * packages / switches;

        host->nic[i].location = location(package, package, sw, any(4) ? 100 + sw : -1);
    }
    for (int i = 0; i < host->request.n_pes; i++) {
        int sw = any(switches), package = sw * packages / switches, kind = any(3);

        host->pe[i] = kind == 0   ? location(package, package, sw, 100 + sw)
                      : kind == 1 ? location(package, package, -1, -1)
                                  : location(-1, -1, -1, -1);
    }
    host->request.usable &= ~((uint64_t)1 << any(host->request.n_nics));
    if (!host->request.usable)
        host->request.usable = 1;
}

/* Every PE has NICs that it may use, each once, and none farther than one that it does not use. */
static bool is_sound(const struct host *host)
{
    for (int pe = 0; pe < host->request.n_pes; pe++) {
        const struct wsh_topo_rails *rails = &host->rails[pe];
        uint64_t mine = 0;

        if (rails->n < 1 || rails->n > WSH_TOPO_RAILS)
            return false;
        for (int i = 0; i < rails->n; i++) {
            uint64_t bit = (uint64_t)1 << rails->rail[i].nic;

            if (!(host->request.usable & bit) || (mine & bit))
                return false;
            mine |= bit;
        }
        for (int i = 0; i < host->request.n_nics; i++)
            if ((host->request.usable & ~mine) >> i & 1 &&
                wsh_nicmap_distance(&host->pe[pe], &host->nic[i].location) <
                    rails->rail[rails->n - 1].distance)
                return false;
    }
    return true;
}

static void any_machine_gets_a_sound_map(void)
{
    static struct host host;

    for (int round = 0; round < 2000; round++) {
        make_random(&host);
        CU_ASSERT_EQUAL_FATAL(wsh_nicmap_make(&host.request, host.rails), 0);
        CU_ASSERT_FATAL(is_sound(&host));
    }
}

static void swap_nics(struct host *host, int a, int b)
{
    struct wsh_topo_dev dev = host->nic[a];

    host->nic[a] = host->nic[b];
    host->nic[b] = dev;
}

static void the_order_of_the_list_does_not_matter(void)
{
    static struct host host;
    char before[2048], after[2048];

    for (int round = 0; round < 500; round++) {
        make_random(&host);
        host.request.usable =
            host.request.n_nics < 64 ? ((uint64_t)1 << host.request.n_nics) - 1 : ~(uint64_t)0;
        map_text(&host, before, sizeof before);
        for (int i = host.request.n_nics - 1; i > 0; i--)
            swap_nics(&host, i, any(i + 1));
        map_text(&host, after, sizeof after);
        CU_ASSERT_STRING_EQUAL_FATAL(before, after);
    }
}

/* PEs at one place: the uses of any two NICs differ by 1 at most, and none is idle while PEs could take it. */
static void sharing_is_even(void)
{
    static struct host host;

    for (int nics = 1; nics <= 32; nics++) {
        for (int pes = 1; pes <= PES; pes++) {
            int uses[WSH_TOPO_NICS] = {0}, least = PES, most = 0;

            init(&host, nics, pes, 0);
            CU_ASSERT_EQUAL_FATAL(wsh_nicmap_make(&host.request, host.rails), 0);
            for (int pe = 0; pe < pes; pe++)
                for (int i = 0; i < host.rails[pe].n; i++)
                    uses[host.rails[pe].rail[i].nic]++;
            for (int i = 0; i < nics; i++) {
                least = uses[i] < least ? uses[i] : least;
                most = uses[i] > most ? uses[i] : most;
            }
            CU_ASSERT_FATAL(most - least <= 1 && (least > 0 || pes * WSH_TOPO_RAILS < nics));
        }
    }
}

static void positions_pair_with_positions(void)
{
    for (int n = 1; n <= WSH_TOPO_RAILS; n++)
        for (int rail = 0; rail < WSH_TOPO_RAILS; rail++)
            CU_ASSERT(wsh_topo_pair(rail, n) == (rail < n ? rail : rail % n));
}

const struct unit_test unit_tests[] = {
    {"tells distances apart", tells_distances_apart},
    {"bound PEs use their package", bound_pes_use_their_package},
    {"unbound PEs take NICs in turn", unbound_pes_take_nics_in_turn},
    {"a GPU without NIC borrows the nearest", a_gpu_without_nic_borrows_the_nearest},
    {"a number fills up with farther NICs", a_number_fills_up_with_farther_nics},
    {"any machine gets a sound map", any_machine_gets_a_sound_map},
    {"the order of the list does not matter", the_order_of_the_list_does_not_matter},
    {"sharing is even", sharing_is_even},
    {"positions pair with positions", positions_pair_with_positions},
    {NULL, NULL},
};
