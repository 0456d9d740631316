/* SPDX-License-Identifier: BSD-3-Clause */
/* warpshmem-info: shows what the library would do on this machine: settings, machine parts, and checks. */
#define _GNU_SOURCE
#include "runtime/base/cuda.h"
#include "runtime/base/env.h"
#include "runtime/base/err.h"
#include "runtime/base/log.h"
#include "runtime/topo/topo.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct view {
    bool settings, topo, check, parsable, all;
};

static void usage(void)
{
    puts("Usage: warpshmem-info [options]\n"
         "Shows the settings of warpshmem, where each comes from, and what this machine offers.\n\n"
         "  -s, --settings   settings (the default)\n"
         "  -a, --all        internal settings too\n"
         "  -t, --topo       cores, NICs and GPUs\n"
         "  -c, --check      what a job needs here; exit status 1 if something is missing\n"
         "  -p, --parsable   key:value lines\n"
         "  -h, --help       this text\n"
         "  -V, --version    version");
}

static void print_setting(const struct wsh_env_row *row, int rc, bool parsable)
{
    if (parsable)
        printf("setting:%s:%s:%s\n", row->name, row->value, rc ? "invalid" : row->origin);
    else
        printf("%-26s %s\n    default %s; %s%s\n    %s: %s\n", row->name,
               *row->value ? row->value : "(empty)", *row->def ? row->def : "(empty)",
               strcmp(row->origin, "default") ? "set by " : "value is the ", row->origin, row->kind,
               row->help);
    if (rc && !parsable)
        printf("    NOT VALID: programs will refuse to start\n");
}

static int show_settings(const struct view *view)
{
    int bad = 0;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        struct wsh_env_row row;
        int rc = wsh_env_describe(i, &row);

        bad |= rc != 0;
        if (view->all || !row.internal)
            print_setting(&row, rc, view->parsable);
    }
    return bad;
}

static void print_devs(const char *what, const struct wsh_topo_dev *dev, int n, bool parsable)
{
    for (int i = 0; i < n; i++)
        printf(parsable ? "%s:%d:%s:%s:%d\n" : "%s %-2d %-16s %s NUMA node %d\n", what, i, dev[i].name,
               dev[i].pci, dev[i].numa);
}

static int show_topo(const struct view *view)
{
    struct wsh_topo topo;

    if (wsh_topo_load(&topo, NULL))
        return 1;
    printf(view->parsable ? "machine:%d:%d:%d:%d\n"
                          : "%d package(s), %d core(s), %d hardware thread(s), %d NUMA node(s)\n",
           topo.packages, topo.cores, topo.pus, topo.numa_nodes);
    print_devs("nic", topo.nic, topo.n_nics, view->parsable);
    print_devs("gpu", topo.gpu, topo.n_gpus, view->parsable);
    if (!topo.n_nics && !view->parsable)
        puts("no RDMA NIC: PEs on other hosts are reached by libfabric's tcp provider");
    return 0;
}

/* One checked thing: name, whether it holds, and what it is or how to cure it. */
static int say(const struct view *view, const char *name, bool ok, const char *text)
{
    printf(view->parsable ? "check:%s:%s:%s\n" : "%-12s %-4s %s\n", name, ok ? "ok" : "FAIL", text);
    return !ok;
}

static int check_shared_memory(const struct view *view)
{
    int fd = memfd_create("warpshmem-check", MFD_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return say(view, "memory", fd >= 0,
               fd >= 0 ? "memfd_create works (shared symmetric heap)"
                       : "memfd_create is refused; allow it in the container's profile");
}

static int check_libfabric(const struct view *view)
{
    void *lib = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    uint32_t (*version)(void) = lib ? (uint32_t(*)(void))dlsym(lib, "fi_version") : NULL;
    char text[96];

    if (!version)
        return say(view, "libfabric", false,
                   "libfabric.so.1 is not found: PEs on other hosts cannot be reached "
                   "(apt install libfabric1)");
    snprintf(text, sizeof text, "version %u.%u", version() >> 16, version() & 0xffff);
    return say(view, "libfabric", (version() >> 16) > 1 || (version() & 0xffff) >= 17, text);
}

static int check_memlock(const struct view *view)
{
    struct rlimit limit;
    char text[128];

    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        return say(view, "memlock", true, "unlimited");
    snprintf(text, sizeof text, "%llu KiB: enough for tcp; EFA and verbs need `ulimit -l unlimited`",
             (unsigned long long)limit.rlim_cur / 1024);
    return say(view, "memlock", true, text);
}

static int check_gpus(const struct view *view)
{
    char text[128] = "none (the host heap works without)";

    if (wsh_cuda_open() == 0) {
        char name[64], pci[32];

        if (wsh_cuda_describe(0, name, sizeof name, pci, sizeof pci))
            return say(view, "GPU", false, "the CUDA driver does not answer; see nvidia-smi");
        snprintf(text, sizeof text, "%d x %s, the first at %s", wsh_cuda_count(), name, pci);
    }
    return say(view, "GPU", true, text);
}

static int show_checks(const struct view *view)
{
    struct wsh_env env;
    int bad = say(view, "settings", wsh_env_load(&env) == 0, "all values are valid, or see the lines above");

    bad |= check_shared_memory(view);
    bad |= check_libfabric(view);
    bad |= check_memlock(view);
    bad |= check_gpus(view);
    return bad;
}

static const struct option options[] = {
    {"settings", no_argument, NULL, 's'}, {"all", no_argument, NULL, 'a'},
    {"topo", no_argument, NULL, 't'},     {"check", no_argument, NULL, 'c'},
    {"parsable", no_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},  {NULL, 0, NULL, 0},
};

/* 0 = go on; otherwise exit status + 1. */
static int read_options(int argc, char **argv, struct view *view)
{
    for (int c; (c = getopt_long(argc, argv, "satcphV", options, NULL)) != -1;) {
        switch (c) {
        case 's': view->settings = true; break;
        case 'a': view->settings = view->all = true; break;
        case 't': view->topo = true; break;
        case 'c': view->check = true; break;
        case 'p': view->parsable = true; break;
        case 'V': puts("warpshmem " WSH_PACKAGE_VERSION ", OpenSHMEM 1.6"); return 1;
        case 'h': usage(); return 1;
        default: fprintf(stderr, "warpshmem-info: see warpshmem-info --help\n"); return 3;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "warpshmem-info: unexpected argument '%s'; see warpshmem-info --help\n",
                argv[optind]);
        return 3;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct view view = {0};
    int rc = read_options(argc, argv, &view);

    if (rc)
        return rc - 1;
    if (view.topo)
        rc |= show_topo(&view);
    if (view.check)
        rc |= show_checks(&view);
    if (view.settings || (!view.topo && !view.check))
        rc |= show_settings(&view);
    return rc;
}
