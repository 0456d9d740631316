/* SPDX-License-Identifier: BSD-3-Clause */
/* warpshmem-info: shows what the library would do on this machine: settings, machine parts, and checks. */
#define _GNU_SOURCE
#include "base/env/conf.h"
#include "base/env/env.h"
#include "base/err.h"
#include "base/log.h"
#include "tools/info_check.h"
#include "tools/info_coll.h"
#include "tools/info_estimate.h"
#include "tools/info_ping.h"
#include "tools/info_ping_line.h"
#include "tools/info_row.h"
#include "tools/info_top.h"
#include "tools/info_version.h"
#include "topo/topo.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {
    bool settings, topo, nics, collectives, check, parsable, json, all, verbose, version, pings;
    struct wsh_ping_job ping;
    const char *topology; /* hwloc XML file, or NULL */
    const char *estimate; /* of which job, or NULL */
    const char *top;      /* process id of a PE, or NULL */
    int pes;              /* PEs a host; 0: one for each GPU */
};

static void usage_print(void)
{
    puts(
        "Usage: warpshmem-info [options]\n"
        "Shows the settings of warpshmem, where each comes from, and what this machine offers.\n\n"
        "  -s, --settings   settings (the default), a line each\n"
        "  -v, --verbose    with what each means, its default, and what it may be\n"
        "  -a, --all        internal settings too\n"
        "  -t, --topo       cores, NICs and GPUs\n"
        "  -n, --nics       the NICs that each PE of this host would use, and why\n"
        "      --pes N      for so many PEs on the host (default: one for each GPU, at least 1)\n"
        "      --topology FILE.xml  of another machine, from the file that lstopo writes there\n"
        "  -C, --collectives  which algorithm each collective takes, by members, bytes and hosts\n"
        "  -e, --estimate JOB  what a PE takes beside its heap, such as n_pes=1024,pes_per_host=8; more "
        "keys:\n"
        "                   nics, peers (that it talks to), teams, transport (efa or tcp)\n"
        "  -c, --check      what a job needs here; exit status 1 if something is missing\n"
        "  -T, --top PID    what the PEs of this host do whose job that process is in: whom each waits for,\n"
        "                   rates; every second on a terminal, else in a line every 10 seconds\n"
        "      --ping[=HOST]  latency and bandwidth of every NIC to HOST, where --ping without one waits\n"
        "      --port N     of that, on both hosts (default " WSH_PING_PORT ")\n"
        "      --seconds N  after which it ends at the latest (default 60)\n"
        "  -p, --parsable   key:value lines\n"
        "  -j, --json       the same as one object of JSON\n"
        "  -h, --help       this text\n"
        "  -V, --version    version, commit, compiler, options of configure");
}

static void print_setting_row(const struct wsh_env_row *row, int rc, bool json)
{
    static const char *const names[] = {"name", "value", "origin", "#valid", "default", "kind", "meaning"};
    const char *const values[] = {
        row->name, row->value, rc && !json ? "invalid" : row->origin, rc ? "false" : "true", row->def,
        row->kind, row->help};

    wsh_info_row(stdout, "setting", json ? sizeof names / sizeof names[0] : 3, names, values);
}

static void print_setting(const struct wsh_env_row *row, int rc, const struct view *view)
{
    bool given = strcmp(row->origin, "default");

    if (view->parsable) {
        print_setting_row(row, rc, view->json);
        return;
    }
    printf("%-28s %-12s %s%s%s\n", row->name, *row->value ? row->value : "(empty)", given ? "set by " : "",
           row->origin, rc ? ": NOT VALID, programs will refuse to start" : "");
    if (view->verbose)
        printf("    default %s\n    %s: %s\n", *row->def ? row->def : "(empty)", row->kind, row->help);
}

static int show_settings(const struct view *view)
{
    int bad = wsh_conf_fault() != NULL;

    if (bad)
        fprintf(stderr, "warpshmem-info: %s\n", wsh_conf_fault());
    for (size_t i = 0; i < wsh_env_count(); i++) {
        struct wsh_env_row row;
        int rc = wsh_env_describe(i, &row);

        bad |= rc != 0;
        if (view->all || !row.internal)
            print_setting(&row, rc, view);
    }
    return bad;
}

/* A number as text, which lasts for the next three calls too. */
static const char *number(long n)
{
    static char texts[4][24];
    static unsigned at;
    char *text = texts[at++ % 4];

    snprintf(text, sizeof texts[0], "%ld", n);
    return text;
}

static void print_devs(const char *what, const struct wsh_topo_dev *dev, int n, bool parsable)
{
    static const char *const names[] = {"#number", "name", "pci", "#numa_node"};

    for (int i = 0; i < n; i++)
        if (parsable)
            wsh_info_row(
                stdout, what, 4, names,
                (const char *const[]){number(i), dev[i].name, dev[i].pci, number(dev[i].location.numa)});
        else
            printf("%s %-2d %-16s %s NUMA node %d\n", what, i, dev[i].name, dev[i].pci, dev[i].location.numa);
}

static void print_machine(const struct wsh_topo *topo, bool parsable)
{
    static const char *const names[] = {"#packages", "#cores", "#hardware_threads", "#numa_nodes"};

    if (parsable)
        wsh_info_row(stdout, "machine", 4, names,
                     (const char *const[]){number(topo->packages), number(topo->cores), number(topo->pus),
                                           number(topo->numa_nodes)});
    else
        printf("%d package(s), %d core(s), %d hardware thread(s), %d NUMA node(s)\n", topo->packages,
               topo->cores, topo->pus, topo->numa_nodes);
}

static int topology_load(const struct view *view, struct wsh_env *env, struct wsh_topo *topo)
{
    const char *why = wsh_topo_lacks();
    int rc = wsh_env_load(env);

    if (why)
        wsh_error("the topology is not known without hwloc: %s", why);
    return rc || why ? -1 : wsh_topo_load(topo, view->topology ? view->topology : env->topology);
}

static int show_topo(const struct view *view)
{
    struct wsh_topo topo;
    struct wsh_env env;

    if (topology_load(view, &env, &topo))
        return 1;
    print_machine(&topo, view->parsable);
    print_devs("nic", topo.nic, topo.n_nics, view->parsable);
    print_devs("gpu", topo.gpu, topo.n_gpus, view->parsable);
    if (!topo.n_nics && !view->parsable)
        puts("no RDMA NIC: PEs on other hosts are reached over sockets, by libfabric's provider tcp or net");
    return 0;
}

/* map:PE:GPU:NICs:distances, the two lists in the order of the rails; the GPU is its number, or -. */
static void print_map_line(int pe, const struct wsh_topo *topo, const struct wsh_topo_rails *rails)
{
    static const char *const names[] = {"#pe", "#gpu", "[nics", "[distances"};
    char nics[WSH_TOPO_RAILS * 80] = "", distances[WSH_TOPO_RAILS * 80] = "";

    for (int i = 0; i < rails->n; i++) {
        size_t used = strlen(nics), far = strlen(distances);

        snprintf(nics + used, sizeof nics - used, "%s%s", i ? "," : "", topo->nic[rails->rail[i].nic].name);
        snprintf(distances + far, sizeof distances - far, "%s%s", i ? "," : "",
                 wsh_topo_distance_word(rails->rail[i].distance));
    }
    wsh_info_row(
        stdout, "map", 4, names,
        (const char *const[]){number(pe), rails->gpu >= 0 ? number(rails->gpu) : "-", nics, distances});
}

static void print_map_rows(int pe, const struct wsh_topo *topo, const struct wsh_topo_rails *rails)
{
    char work[64] = "no GPU";

    if (rails->gpu >= 0)
        snprintf(work, sizeof work, "GPU %d %s, node %d", rails->gpu, topo->gpu[rails->gpu].pci,
                 topo->gpu[rails->gpu].location.numa);
    for (int i = 0; i < rails->n; i++) {
        const struct wsh_topo_dev *nic = &topo->nic[rails->rail[i].nic];
        char number[16];

        snprintf(number, sizeof number, "%d", pe);
        printf("%-4s %-28s %-5d %-16s %-14s %-5d %s\n", i ? "" : number, i ? "" : work, i, nic->name,
               nic->pci, nic->location.numa, wsh_topo_distance_word(rails->rail[i].distance));
    }
}

static void print_distance_words(unsigned seen)
{
    for (int distance = 0; distance < WSH_DISTANCES; distance++)
        if (seen >> distance & 1)
            printf("%s: %s\n", wsh_topo_distance_word(distance), wsh_topo_distance_help(distance));
}

/* Each PE's own choice, as it makes it in a job where the PEs have not exchanged their GPUs. */
static int print_map(const struct view *view, const struct wsh_env *env, const struct wsh_topo *topo)
{
    struct wsh_topo_local local = {.n = view->pes ? view->pes : topo->n_gpus ? topo->n_gpus : 1};
    unsigned seen = 0;

    for (; local.rank < local.n; local.rank++) {
        struct wsh_topo_rails rails;

        if (wsh_topo_choose(topo, env, &local, topo->nic, topo->n_nics, &rails))
            return 1;
        if (!view->parsable && !local.rank)
            printf("%-4s %-28s %-5s %-16s %-14s %-5s %s\n", "PE", "at", "rail", "NIC", "PCI address", "node",
                   "distance");
        (view->parsable ? print_map_line : print_map_rows)(local.rank, topo, &rails);
        for (int i = 0; i < rails.n; i++)
            seen |= 1U << rails.rail[i].distance;
    }
    if (!view->parsable)
        print_distance_words(seen);
    return 0;
}

static int show_nics(const struct view *view)
{
    struct wsh_topo topo;
    struct wsh_env env;

    if (topology_load(view, &env, &topo))
        return 1;
    if (!topo.n_nics && !view->parsable) {
        puts("no RDMA NIC: PEs on other hosts are reached over sockets, by libfabric's provider tcp or net");
        return 0;
    }
    return print_map(view, &env, &topo);
}

static int show_collectives(const struct view *view)
{
    wsh_info_collectives(view->parsable);
    return 0;
}

static const struct option options[] = {
    {"settings", no_argument, NULL, 's'},
    {"all", no_argument, NULL, 'a'},
    {"topo", no_argument, NULL, 't'},
    {"nics", no_argument, NULL, 'n'},
    {"collectives", no_argument, NULL, 'C'},
    {"check", no_argument, NULL, 'c'},
    {"parsable", no_argument, NULL, 'p'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"pes", required_argument, NULL, 'N'},
    {"ping", optional_argument, NULL, 'P'},
    {"port", required_argument, NULL, 'O'},
    {"seconds", required_argument, NULL, 'S'},
    {"json", no_argument, NULL, 'j'},
    {"topology", required_argument, NULL, 'X'},
    {"estimate", required_argument, NULL, 'e'},
    {"top", required_argument, NULL, 'T'},
    {NULL, 0, NULL, 0},
};

static int read_number(const char *option, const char *text, long most, long *number)
{
    char *end;
    long n = strtol(text, &end, 10);

    *number = n;
    if (*text && !*end && n >= 1 && n <= most)
        return 0;
    fprintf(stderr, "warpshmem-info: %s '%s': write a whole number from 1 to %ld\n", option, text, most);
    return 3;
}

static int read_pes(const char *text, struct view *view)
{
    long n;
    int rc = read_number("--pes", text, 4096, &n);

    view->nics = true;
    view->pes = (int)n;
    return rc;
}

static int read_port(const char *text, struct view *view)
{
    long n;

    view->ping.port = text;
    return read_number("--port", text, 65535, &n);
}

/* The host of --ping may be a word of its own. */
static int read_rest(int argc, char **argv, struct view *view)
{
    if (view->pings && !view->ping.host && optind < argc)
        view->ping.host = argv[optind++];
    if (optind >= argc)
        return 0;
    fprintf(stderr, "warpshmem-info: unexpected argument '%s'; see warpshmem-info --help\n", argv[optind]);
    return 3;
}

/* 0 = go on; otherwise exit status + 1. */
static int read_options(int argc, char **argv, struct view *view)
{
    int rc = 0;

    for (int c; !rc && (c = getopt_long(argc, argv, "satnCce:T:pjhvV", options, NULL)) != -1;) {
        switch (c) {
        case 's': view->settings = true; break;
        case 'a': view->settings = view->all = true; break;
        case 't': view->topo = true; break;
        case 'n': view->nics = true; break;
        case 'X': view->topology = optarg; break;
        case 'C': view->collectives = true; break;
        case 'e': view->estimate = optarg; break;
        case 'T': view->top = optarg; break;
        case 'c': view->check = true; break;
        case 'p': view->parsable = true; break;
        case 'v': view->verbose = true; break;
        case 'j': view->json = view->parsable = true; break;
        case 'V': view->version = true; break;
        case 'h': usage_print(); return 1;
        case 'P':
            view->pings = true;
            view->ping.host = optarg;
            break;
        case 'N': rc = read_pes(optarg, view); break;
        case 'O': rc = read_port(optarg, view); break;
        case 'S': rc = read_number("--seconds", optarg, 86400, &view->ping.seconds); break;
        default: fprintf(stderr, "warpshmem-info: see warpshmem-info --help\n"); return 3;
        }
    }
    return rc ? rc : read_rest(argc, argv, view);
}

static int show(const struct view *view)
{
    int rc = 0;

    if (view->version || view->json)
        wsh_info_version(view->parsable);
    if (view->pings)
        return wsh_info_ping(&view->ping);
    if (view->topo)
        rc |= show_topo(view);
    if (view->nics)
        rc |= show_nics(view);
    if (view->collectives)
        rc |= show_collectives(view);
    if (view->estimate)
        rc |= wsh_info_estimate(view->estimate, view->parsable);
    if (view->check)
        rc |= wsh_info_checks(view->parsable);
    if (view->settings || (!view->topo && !view->nics && !view->collectives && !view->check &&
                           !view->estimate && !view->version))
        rc |= show_settings(view);
    return rc;
}

int main(int argc, char **argv)
{
    struct view view = {.ping = {.port = WSH_PING_PORT, .seconds = WSH_PING_SECONDS}};
    int rc = read_options(argc, argv, &view);

    if (rc)
        return rc - 1;
    if (view.top)
        return wsh_info_top(view.top);
    view.ping.parsable = view.parsable;
    if (view.json)
        wsh_info_json_begin(stdout);
    rc = show(&view);
    if (view.json)
        wsh_info_json_end(stdout);
    return rc;
}
