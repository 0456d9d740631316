/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the hosts that the user names with -H or --hostfile. */
#ifndef WSH_OSHRUN_HOSTS_H
#define WSH_OSHRUN_HOSTS_H

#include "bootstrap/oshrun/args.h"

struct wsh_host {
    char *name;
    int slots; /* PEs on it; 0 = not said */
};

struct wsh_hosts {
    struct wsh_host *host;
    int n;
};

/* Reads args->hosts or args->hostfile; none gives n = 0. 0, or OSHRUN_USAGE after one line. */
int wsh_hosts_init(struct wsh_hosts *hosts, const struct wsh_args *args);
void wsh_hosts_fini(struct wsh_hosts *hosts);

/* All of them are names of this machine. */
bool wsh_hosts_are_here(const struct wsh_hosts *hosts);

#endif
