/* SPDX-License-Identifier: BSD-3-Clause */
/* Which PEs live, what counts as a failure, and how the job is ended because of one. */
#ifndef WSH_OSHRUN_REAP_H
#define WSH_OSHRUN_REAP_H

#include "bootstrap/oshrun/args.h"
#include "bootstrap/oshrun/io.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct wsh_pe {
    pid_t pid;    /* also its process group */
    bool running; /* false: its end was seen, but the zombie is kept, and with it the group's number */
    bool judged;
    bool failed;  /* and the others go on */
    bool joined;  /* was a PMIx client at any time */
    bool inside;  /* is one: between PMIx_Init and PMIx_Finalize, or shmem_finalize where the PE notes that */
    bool lost;    /* its connection broke while inside */
    double ended; /* when its end was seen */
    int status;   /* as waitpid gives it, once not running */
    int exec_err; /* errno of a failed exec */
};

struct wsh_reap {
    struct wsh_pe *pes;
    int n_pes, n_running;
    const char *program;
    int notes;        /* of the PEs, a descriptor (bootstrap/blob/blob_file.h); -1: none */
    bool left_said;   /* that a PE has left and others go on */
    bool survive;     /* a PE that fails ends nothing once all have finished shmem_init */
    int n_failed;     /* PEs that have failed so */
    int failed_code;  /* exit status that the first of them gives, if nobody survives */
    const char *file; /* of the notes, its path, or NULL; beside it a PE that crashes notes where */
    int at_terminal; /* the PE that is in oshrun's own process group, -1: none; its gdb takes what is typed */
    int crashed;     /* the PE whose crash is to be told of at the end, -1: none */
    char host[256];
    int code;        /* exit status of oshrun */
    bool ending;     /* SIGTERM was sent */
    bool killed;     /* SIGKILL was sent */
    double deadline; /* when SIGKILL follows, or before the end when what may be harmless counts; 0 = never */
    int asked_by;    /* the last of SIGINT, SIGTERM, … that was passed on; 0 = none */
    double asked_at;
    bool initialized; /* all PEs have come to the end of shmem_init, or nobody could say so */
    double kill_wait; /* seconds */
    double term_at;   /* when SIGTERM was passed on, if that is what the job ends by; 0 = it is not */
    long kills; /* processes of this cgroup that the kernel had killed for lack of memory before the job */
};

/*
 * `served`: the PEs have a PMIx server, which says when they have finished shmem_init. 0 or -ENOMEM after one line.
 */
int wsh_reap_init(struct wsh_reap *reap, const struct wsh_args *args, bool served);
void wsh_reap_fini(struct wsh_reap *reap);

void wsh_reap_started(struct wsh_reap *reap, int pe, pid_t pid);

/* The file in which the PEs note how far they are. */
void wsh_reap_notes(struct wsh_reap *reap, const char *path);

/* After the last PE's end: where the PE whose crash ended the job has crashed, as far as it noted that. */
void wsh_reap_say_crash(const struct wsh_reap *reap);

/* "PE 3 (host, pid 4711)" */
static inline void wsh_reap_name(const struct wsh_reap *reap, int i, char *text, size_t size)
{
    snprintf(text, size, "PE %d (%.64s, pid %d)", i, reap->host, (int)reap->pes[i].pid);
}

/* Has any process of this one's ended? At the price of one call, whatever the number of PEs. */
bool wsh_reap_some(void);

/*
 * Finds which PEs ended, by a call for each: where some have. The caller then passes the events from before their end,
 * and calls wsh_reap_judge.
 */
void wsh_reap_poll(struct wsh_reap *reap);
void wsh_reap_event(struct wsh_reap *reap, const struct wsh_event *event);

/*
 * When it is decided how a PE ended that exited with status 0 before the server said that it had left; 0: there is
 * none. libpmix's PMIx_Finalize waits 2 s for its server and returns all the same.
 */
double wsh_reap_unsure(const struct wsh_reap *reap);

/* Decides what the ends that were seen mean; the first failure is reported in one line and ends the job. */
void wsh_reap_judge(struct wsh_reap *reap);
/* After the last PE's end: what the failures that the others survived mean for the exit status. */
void wsh_reap_survived(struct wsh_reap *reap);

/*
 * A signal that oshrun got: passes it on; a second SIGINT or SIGTERM kills. After a SIGTERM wsh_reap_timeout kills too.
 */
void wsh_reap_signal(struct wsh_reap *reap, int sig);

/* Seconds until wsh_reap_timeout has something to do; negative = nothing. */
double wsh_reap_wait(const struct wsh_reap *reap);
void wsh_reap_timeout(struct wsh_reap *reap);

/* Ends the job with exit status `code` unless it is ending already: SIGTERM, and SIGKILL a little later. */
void wsh_reap_end(struct wsh_reap *reap, int code);

/* After the last PE's end: kills what is left in the process groups and lets the zombies go. */
void wsh_reap_bury(struct wsh_reap *reap);

#endif
