/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the fabric tests: those of every perftest program, and which NICs carry what. */
#ifndef PERFTEST_FABRIC_OPTIONS_H
#define PERFTEST_FABRIC_OPTIONS_H

#include "perftest/common/options.h"

enum fab_policy {
    FAB_SINGLE,     /* everything on the first NIC */
    FAB_SPLIT,      /* each message cut into stripes over all NICs */
    FAB_ROUND_ROBIN /* two processes: operation i on NIC i mod n; all pairs: target t on NIC t mod n */
};

struct fab_options {
    struct perf_options common;
    int nics; /* that each process opens; 0: all */
    enum fab_policy policy;
};

/* Takes --nics and --policy out of argv and leaves the others to perf_options_parse; returns as that does. */
int fab_options_parse(struct fab_options *o, const struct perf_defaults *defaults, int argc, char **argv,
                      char *error);
void fab_options_help(const struct perf_defaults *defaults);
const char *fab_policy_name(enum fab_policy policy);

#endif
