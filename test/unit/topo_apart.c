/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc may end, hang or leave anything: a file that it reads is named in one line, and the PE goes on. */
#define _GNU_SOURCE
#include "topo/topo.h"

#include "test/common/unit.h"
#include "topo/hwloc_library.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int end_signal; /* of whoever reads a file; 0: hwloc refuses it */
static unsigned handled;

/* In place of libhwloc's. */
static int set_xml(hwloc_topology_t tree, const char *path)
{
    (void)tree, (void)path;
    if (end_signal)
        raise(end_signal);
    return -1;
}

static void note(int signo)
{
    (void)signo;
    handled++;
}

static void load(void *arg)
{
    struct wsh_topo topo;

    *(int *)arg = wsh_topo_load(&topo, "/proc/self/exe");
}

static void says(int signo, const char *words)
{
    char text[1024];
    int rc = 0;

    end_signal = signo;
    CU_ASSERT_PTR_NULL_FATAL(wsh_hwloc_open());
    wsh_hwloc.topology_set_xml = set_xml;
    unit_capture(load, &rc, text, sizeof text);
    CU_ASSERT_EQUAL(rc, -EINVAL);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, words));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "'/proc/self/exe'"));
}

static void names_the_signal(void)
{
    signal(SIGSEGV, note); /* the program's own handlers are left alone */
    says(SIGSEGV, "a damaged topology XML: hwloc is ended by signal 11");
    says(SIGABRT, "a damaged topology XML: hwloc is ended by signal 6");
    says(SIGALRM, "a damaged topology XML: hwloc takes more than");
    says(0, "is not a topology XML that hwloc can read");
    CU_ASSERT_EQUAL(handled, 0);
    signal(SIGSEGV, SIG_DFL);
}

/* Whoever reaps all children, or has none reported, has no exit status for this one. */
static void needs_no_exit_status(void)
{
    signal(SIGCHLD, SIG_IGN);
    says(SIGSEGV, "a damaged topology XML: hwloc ends when it reads it");
    says(0, "is not a topology XML that hwloc can read");
    signal(SIGCHLD, SIG_DFL);
}

const struct unit_test unit_tests[] = {
    {"a signal that ends hwloc is named in one line", names_the_signal},
    {"no exit status is needed", needs_no_exit_status},
    {NULL, NULL},
};
