/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that serves NICs is bound near them, never to a processor that it was not allowed. */
#define _GNU_SOURCE
#include "topo/topo.h"

#include "test/common/unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct wsh_topo topo;

/* Processors, ended by -1. */
static cpu_set_t set(int first, ...)
{
    cpu_set_t cpus;
    va_list args;

    CPU_ZERO(&cpus);
    va_start(args, first);
    for (int cpu = first; cpu >= 0; cpu = va_arg(args, int))
        CPU_SET((size_t)cpu, &cpus);
    va_end(args);
    return cpus;
}

static void load(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/test/topo/%s.xml", getenv("top_srcdir") ? getenv("top_srcdir") : ".",
             name);
    CU_ASSERT_EQUAL_FATAL(wsh_topo_load(&topo, path), 0);
}

/* "0-1": what is near to two NICs of the topology, by index. */
static const char *near_to(int a, int b)
{
    static char text[64];
    const struct wsh_topo_rails rails = {.n = 2, .rail = {{.nic = a}, {.nic = b}}};
    cpu_set_t near;

    wsh_topo_near(&topo, &rails, topo.nic, &near);
    wsh_topo_cpus_text(&near, text, sizeof text);
    return text;
}

static void nodes_of_all_nics(void)
{
    load("p5");
    CU_ASSERT_STRING_EQUAL(near_to(0, 1), "0-1");
    CU_ASSERT_STRING_EQUAL(near_to(0, 31), "0-3");
    CU_ASSERT_STRING_EQUAL(near_to(31, 30), "2-3");
}

static void packages_of_nics_without_node(void)
{
    load("p5");
    topo.nic[0].location.numa = topo.nic[1].location.numa = -1;
    CU_ASSERT_STRING_EQUAL(near_to(0, 0), "0-1");
    topo.nic[0].location.package = -1;
    CU_ASSERT_STRING_EQUAL(near_to(0, 0), "");
    CU_ASSERT_STRING_EQUAL(near_to(0, 1), "0-1");
}

static void bound_within_what_is_allowed(void)
{
    const cpu_set_t all = set(0, 1, 2, 3, -1), near = set(2, 3, -1), part = set(1, 2, -1),
                    far = set(0, 1, -1), one = set(3, -1), none = set(-1), common = set(2, -1);
    cpu_set_t pin;

    for (int narrow = 0; narrow < 2; narrow++) {
        CU_ASSERT(wsh_topo_pin(&all, &near, narrow, &pin) && CPU_EQUAL(&pin, &near));
        CU_ASSERT_FALSE(wsh_topo_pin(&far, &near, narrow, &pin));
        CU_ASSERT_FALSE(wsh_topo_pin(&one, &near, narrow, &pin));
        CU_ASSERT_FALSE(wsh_topo_pin(&near, &near, narrow, &pin));
        CU_ASSERT_FALSE(wsh_topo_pin(&all, &none, narrow, &pin));
    }
    CU_ASSERT_FALSE(wsh_topo_pin(&part, &near, false, &pin));
    CU_ASSERT(wsh_topo_pin(&part, &near, true, &pin) && CPU_EQUAL(&pin, &common));
}

static void lists_read_like_taskset(void)
{
    const cpu_set_t cpus = set(0, 1, 2, 5, 7, 8, -1), none = set(-1);
    char text[64], little[6];

    wsh_topo_cpus_text(&cpus, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "0-2,5,7-8");
    wsh_topo_cpus_text(&none, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "");
    wsh_topo_cpus_text(&cpus, little, sizeof little);
    CU_ASSERT_STRING_EQUAL(little, "0-2,5");
}

const struct unit_test unit_tests[] = {
    {"nodes of all NICs", nodes_of_all_nics},
    {"packages of NICs without node", packages_of_nics_without_node},
    {"bound within what is allowed", bound_within_what_is_allowed},
    {"lists read like taskset", lists_read_like_taskset},
    {NULL, NULL},
};
