/* SPDX-License-Identifier: BSD-3-Clause */
/* Every PE of a host makes the same map, whether PEs tell each other where they are or must guess it. */
#include "topo/topo.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wsh_topo topo;
static struct wsh_env env;

static void load(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/test/topo/%s.xml", getenv("top_srcdir") ? getenv("top_srcdir") : ".",
             name);
    unsetenv("CUDA_VISIBLE_DEVICES");
    CU_ASSERT_EQUAL_FATAL(wsh_env_load(&env), 0);
    CU_ASSERT_EQUAL_FATAL(wsh_topo_load(&topo, path), 0);
}

/* "rdmap16s0,rdmap17s0": the choice of one PE. */
static const char *choice(const struct wsh_topo_local *local)
{
    static char text[1024];
    struct wsh_topo_rails rails;
    size_t used = 0;

    text[0] = '\0';
    CU_ASSERT_EQUAL_FATAL(wsh_topo_choose(&topo, &env, local, topo.nic, topo.n_nics, &rails), 0);
    for (int i = 0; i < rails.n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "",
                                 topo.nic[rails.rail[i].nic].name);
    return text;
}

static const char *choice_of(int rank, int n)
{
    struct wsh_topo_local local = {.rank = rank, .n = n};

    return choice(&local);
}

static void bind_to(int numa, int package)
{
    topo.here = (struct wsh_topo_location){.numa = numa, .package = package, .root = -1};
}

/* Packages in blocks (0 0 1 1) and in turn (0 1 0 1): NICs of the own package, each used once. */
static void bound_pes_guess_the_others(void)
{
    static const char *const blocks[] = {"rdmap16s0", "rdmap17s0", "rdmap144s0", "rdmap145s0"};
    static const char *const turns[] = {"rdmap16s0", "rdmap144s0", "rdmap17s0", "rdmap145s0"};

    load("no-gpu");
    for (int by_package = 0; by_package < 2; by_package++) {
        for (int pe = 0; pe < 4; pe++) {
            bind_to(by_package ? -1 : pe / 2, pe / 2);
            CU_ASSERT_STRING_EQUAL(choice_of(pe, 4), blocks[pe]);
            bind_to(by_package ? -1 : pe % 2, pe % 2);
            CU_ASSERT_STRING_EQUAL(choice_of(pe, 4), turns[pe]);
        }
    }
    bind_to(1, 1);
    CU_ASSERT_STRING_EQUAL(choice_of(0, 1), "rdmap144s0,rdmap145s0");
    CU_ASSERT_STRING_EQUAL(choice_of(1, 2), "rdmap144s0,rdmap145s0");
}

/* All four at package 1: only PEs that know of each other share its NICs out. */
static void known_pes_need_no_guess(void)
{
    static const char *const wanted[] = {"rdmap144s0", "rdmap145s0", "rdmap144s0", "rdmap145s0"};
    struct wsh_topo_pe known[4];

    load("no-gpu");
    bind_to(1, 1);
    for (int pe = 0; pe < 4; pe++) {
        struct wsh_topo_local local = {.rank = pe, .n = 4};

        CU_ASSERT_EQUAL(wsh_topo_pe_fill(&topo, &env, &local, &known[pe]), 0);
        CU_ASSERT(known[pe].numa == 1 && known[pe].package == 1 && !*known[pe].gpu);
    }
    for (int pe = 0; pe < 4; pe++) {
        struct wsh_topo_local local = {.rank = pe, .n = 4, .pe = known};

        CU_ASSERT_STRING_EQUAL(choice(&local), wanted[pe]);
    }
}

/* Each PE knows its GPU for certain, in an order that nobody could guess. */
static void known_gpus_are_believed(void)
{
    static const int gpu[] = {5, 5, 0, 7};
    static const char *const wanted[] = {"rdmap164s0,rdmap165s0", "rdmap166s0,rdmap167s0",
                                         "rdmap79s0,rdmap80s0,rdmap81s0,rdmap82s0",
                                         "rdmap198s0,rdmap199s0,rdmap200s0,rdmap201s0"};
    struct wsh_topo_pe known[4];

    load("p5");
    for (int pe = 0; pe < 4; pe++) {
        struct wsh_topo_local local = {.rank = pe, .n = 4, .gpu = topo.gpu[gpu[pe]].pci};

        CU_ASSERT_EQUAL(wsh_topo_pe_fill(&topo, &env, &local, &known[pe]), 0);
        CU_ASSERT_STRING_EQUAL(known[pe].gpu, topo.gpu[gpu[pe]].pci);
        CU_ASSERT_NSTRING_EQUAL(choice(&local), wanted[pe], strlen("rdmap1"));
    }
    for (int pe = 0; pe < 4; pe++) {
        struct wsh_topo_local local = {.rank = pe, .n = 4, .pe = known};

        CU_ASSERT_STRING_EQUAL(choice(&local), wanted[pe]);
    }
}

static void visible_devices_by_uuid(void)
{
    load("p5");
    for (int i = 0; i < topo.n_gpus; i++)
        snprintf(topo.gpu[i].uuid, sizeof topo.gpu[i].uuid, "GPU-%d%d%d-abc", i, i, i);
    setenv("CUDA_VISIBLE_DEVICES", "GPU-333", 1);
    CU_ASSERT_NSTRING_EQUAL(choice_of(0, 2), "rdmap130s0,", 11);
    CU_ASSERT_NSTRING_EQUAL(choice_of(1, 2), "rdmap130s0,", 11);
    setenv("CUDA_VISIBLE_DEVICES", "GPU-777-abc,GPU-000-abc", 1);
    CU_ASSERT_NSTRING_EQUAL(choice_of(0, 2), "rdmap198s0,", 11);
    CU_ASSERT_NSTRING_EQUAL(choice_of(1, 2), "rdmap79s0,", 10);
    setenv("CUDA_VISIBLE_DEVICES", "MIG-1234", 1);
    CU_ASSERT_NSTRING_EQUAL(choice_of(1, 2), "rdmap96s0,", 10);
    unsetenv("CUDA_VISIBLE_DEVICES");
}

/* Two NICs for two GPUs below each switch: a PE that sees only its own GPU leaves one NIC to its neighbour. */
static void hidden_neighbours_are_counted(void)
{
    load("p4d");
    for (int i = 0; i < 4; i++) {
        topo.nic[4 + i] = topo.nic[i];
        strcat(topo.nic[4 + i].name, "b");
    }
    topo.n_nics = 8;
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    CU_ASSERT_STRING_EQUAL(choice_of(0, 2), "rdmap16s27");
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    CU_ASSERT_STRING_EQUAL(choice_of(1, 2), "rdmap16s27b");
    setenv("CUDA_VISIBLE_DEVICES", "6", 1);
    CU_ASSERT_STRING_EQUAL(choice_of(0, 1), "rdmap160s27,rdmap160s27b");
    CU_ASSERT_STRING_EQUAL(choice_of(1, 2), "rdmap160s27,rdmap160s27b");
    CU_ASSERT_STRING_EQUAL(choice_of(0, 2), "rdmap160s27");
    unsetenv("CUDA_VISIBLE_DEVICES");
}

/* NICs as libfabric hands them in: found by address in any case of letters, else by name, else unknown. */
static void foreign_nics_are_located(void)
{
    struct wsh_topo_dev nic[4] = {{.name = "rdmap184s0-rdm", .pci = "0000:B8:00.0"},
                                  {.name = "rdmap184s0"},
                                  {.name = "eth0"},
                                  {.name = "rdmap184s0", .pci = "0000:ff:00.0"}};

    load("p5");
    for (int i = 0; i < 4; i++)
        wsh_topo_locate(&topo, &nic[i]);
    CU_ASSERT(nic[0].location.numa == 1 && nic[0].location.n_bridges == 1 && nic[0].location.root >= 0);
    CU_ASSERT(!memcmp(&nic[0].location, &nic[1].location, sizeof nic[0].location));
    CU_ASSERT(nic[2].location.numa == -1 && nic[2].location.root == -1);
    CU_ASSERT(nic[3].location.numa == -1 && nic[3].location.root == -1);
}

static void the_map_is_printed_in_one_line(void)
{
    struct wsh_topo_local local = {.rank = 4, .n = 8};
    struct wsh_topo_rails rails;
    char text[256], small[24];

    load("p5en");
    CU_ASSERT_EQUAL(wsh_topo_choose(&topo, &env, &local, topo.nic, topo.n_nics, &rails), 0);
    wsh_topo_rails_text(&topo, &rails, topo.nic, topo.n_nics, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(
        text, "2 of 16 NICs for the GPU at 0000:97:00.0: rdmap149s0 (switch), rdmap150s0 (switch)");
    wsh_topo_rails_text(&topo, &rails, topo.nic, topo.n_nics, small, sizeof small);
    CU_ASSERT(strlen(small) == sizeof small - 1 && !strncmp(small, text, sizeof small - 1));
}

static void no_nic_is_no_error(void)
{
    struct wsh_topo_local local = {.rank = 1, .n = 2};
    struct wsh_topo_rails rails = {.n = 7};

    load("vm");
    CU_ASSERT_EQUAL(wsh_topo_choose(&topo, &env, &local, topo.nic, topo.n_nics, &rails), 0);
    CU_ASSERT(rails.n == 0 && rails.gpu == -1);
}

/* On the machine of the test itself, whatever it has. */
static void this_machine_is_read(void)
{
    static struct wsh_topo here;

    CU_ASSERT_EQUAL(wsh_topo_load(&here, NULL), 0);
    CU_ASSERT(here.cores >= 1 && here.pus >= here.cores && here.numa_nodes >= 1);
    for (int i = 0; i < here.n_gpus; i++)
        CU_ASSERT(strlen(here.gpu[i].pci) >= strlen("0000:00:00.0"));
}

const struct unit_test unit_tests[] = {
    {"bound PEs guess the others", bound_pes_guess_the_others},
    {"known PEs need no guess", known_pes_need_no_guess},
    {"known GPUs are believed", known_gpus_are_believed},
    {"visible devices by UUID", visible_devices_by_uuid},
    {"hidden neighbours are counted", hidden_neighbours_are_counted},
    {"foreign NICs are located", foreign_nics_are_located},
    {"the map is printed in one line", the_map_is_printed_in_one_line},
    {"no NIC is no error", no_nic_is_no_error},
    {"this machine is read", this_machine_is_read},
    {NULL, NULL},
};
