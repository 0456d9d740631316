/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun's command line. */
#ifndef WSH_OSHRUN_ARGS_H
#define WSH_OSHRUN_ARGS_H

#include <stdbool.h>

#define WSH_OSHRUN_MAX_PES 4096
#define WSH_OSHRUN_KILL_WAIT 30 /* seconds; Slurm's KillWait */
#define WSH_OSHRUN_MAX_KILL_WAIT 86400

enum wsh_bind { WSH_BIND_NONE, WSH_BIND_HWTHREAD, WSH_BIND_CORE, WSH_BIND_NUMA, WSH_BIND_SOCKET };

/* Strings point into argv. */
struct wsh_args {
    int n_pes; /* 0 = not given */
    int nodes_emulated;
    bool nodes_given;
    enum wsh_bind bind;
    bool bind_given;
    bool tag, timestamp, top, verbose, help, version;
    double kill_wait; /* seconds from a SIGTERM that is passed on to SIGKILL */
    bool kill_wait_given;
    bool survive, survive_given; /* --on-pe-failure */
    const char *output;          /* --output-filename or NULL */
    const char *emulate;         /* profile of the emulated EFA device, or NULL */
    bool nvtx;                   /* --nvtx */
    const char *trace;           /* --trace or NULL */
    const char *wrap;            /* --wrap or NULL */
    bool gdb;                    /* --gdb */
    int gdb_pe;                  /* its PE; -1: not named */
    const char *hosts, *hostfile;
    char **exports; /* NULL-terminated: "VAR" or "VAR=value", in order */
    char **program; /* NULL-terminated argv of the program */
};

/* Returns 0, or OSHRUN_USAGE after one line that says what is wrong and what to write instead. */
int wsh_args_parse(struct wsh_args *args, int argc, char **argv);
void wsh_args_fini(struct wsh_args *args);

extern const char wsh_args_help[];

#endif
