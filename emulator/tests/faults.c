/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * faults FABRIC CASE: process 0 meets one fault, and what the provider says of it is printed and judged. The script of
 * the fault, where it needs one, stands in EFA_EMULATOR_FAULTS: see faults.sh.
 */
#include "emulator/tests/cases.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*body)(struct net *net);
    size_t cq_size;
    bool rnr_given;
} cases[] = {
    {"drop", case_drop},       {"duplicate", case_duplicate}, {"stall", case_stall},
    {"down", case_down},       {"removed", case_removed},     {"removed-peer", case_removed_peer},
    {"killed", case_killed},   {"closed", case_closed},       {"unreachable", case_unreachable},
    {"unknown", case_unknown}, {"bad-key", case_bad_key},     {"full", case_full},
    {"refused", case_refused}, {"rnr", case_rnr, 0, true},    {"overrun", case_overrun, 128},
};

static struct net_options options = {.n_procs = 2, .heap_len = 1 << 20, .seconds = 50};

int main(int argc, char **argv)
{
    if (argc == 3)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            if (!strcmp(cases[i].name, argv[2])) {
                options.fabric = argv[1];
                options.cq_size = cases[i].cq_size;
                options.rnr_given = cases[i].rnr_given;
                options.rnr_retry = 1;
                setvbuf(stdout, NULL, _IOLBF, 0);
                return net_run(&options, cases[i].body);
            }
    fprintf(stderr, "use: faults FABRIC CASE\n");
    return 2;
}
