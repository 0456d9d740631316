/* SPDX-License-Identifier: BSD-3-Clause */
/* The bootstrap: how a process learns its PE number and exchanges one blob with every other PE, whatever started it. */
#ifndef WSH_BOOTSTRAP_BOOT_H
#define WSH_BOOTSTRAP_BOOT_H

#include "base/env/env.h"
#include "base/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_boot;

/* How the program itself wants to join, where it says so. */
enum wsh_boot_method { WSH_BOOT_BY_UID, WSH_BOOT_BY_MPI };

struct wsh_boot_request {
    enum wsh_boot_method method;
    const void *id; /* WSH_BOOT_UID_BYTES of wsh_boot_uid_make */
    int rank, n_ranks;
    bool again;     /* a launcher's PEs come back (again.h): the id's root is there, unless it has ended */
    void *mpi_comm; /* an MPI_Comm * */
};

#define WSH_BOOT_UID_BYTES 128
#define WSH_BOOT_AT_EXIT "the end of the program"

/*
 * Makes a unique id, for which this process then serves from a thread, until the world that starts by it has ended.
 * May be called at any time. 0 or a negative errno after one line.
 */
int wsh_boot_uid_make(void *id, const struct wsh_env *env);

/* The operations of a bootstrap. Every function returns 0 or a negative errno and has then logged one line. */
struct wsh_boot_ops {
    const char *name;

    /*
     * Joins the job. -ENODEV: this process was not started by this bootstrap's launcher, which is not an error and not
     * logged. On success fills all fields of *boot that are named below.
     */
    int (*open)(struct wsh_boot *boot, const struct wsh_env *env);

    /* Leaves the job; the launcher then takes the end of the process as normal. */
    void (*close)(struct wsh_boot *boot);

    /*
     * Collective, once per round (round = 0, 1, … the same on all PEs): publishes this PE's blob.
     * Returns once every PE has published.
     */
    int (*publish)(struct wsh_boot *boot, int round, const void *blob, size_t len);

    /* The blob PE `pe` published in `round`; *blob is malloc'd, the caller frees it. */
    int (*lookup)(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len);
    bool keeps; /* lookup may be called until close, by any thread, with any earlier round */

    /*
     * Collective over the PEs of this host, at most once between open and close: all[local_size] receives, by local
     * rank, the `len` bytes at `mine` of each of them. It belongs to no round and waits for the PEs of this host only.
     * NULL or -ENOTSUP: the bootstrap has no such exchange.
     */
    int (*exchange_host)(struct wsh_boot *boot, const void *mine, size_t len, void *all);

    /*
     * Collective: returns once every PE has called it. Any outcome but complete success is an error. `what` names it
     * in messages; "shmem_finalize" does not wait for PEs that have left (has_left), and WSH_BOOT_AT_EXIT is an
     * error without a line where some have, or do, and -ENOTSUP where this barrier is none that can be left.
     */
    int (*barrier)(struct wsh_boot *boot, const char *what);

    /*
     * This process ends with status 0 and has not called shmem_finalize: it has left, and the others go on. Nothing
     * else is called any more, close included. NULL: the bootstrap has no such word.
     */
    void (*leave)(struct wsh_boot *boot);

    /* Has PE `pe` (-1: any) left so? By any thread; cheap. NULL: nobody can know. */
    bool (*has_left)(struct wsh_boot *boot, int pe);

    /*
     * What boot->failures was when PE `pe` failed while the others go on; 0: it has not. By any thread; a system call.
     * NULL: nobody can know, and failures is NULL.
     */
    uint32_t (*failed_at)(struct wsh_boot *boot, int pe);

    /*
     * `len` bytes that all PEs share and that outlive each of them, until close; all ask for as many. Zero before the
     * first PE writes. NULL after one line. Where failed_at is there.
     */
    void *(*board)(struct wsh_boot *boot, size_t len);

    /*
     * NULL: the board is memory that all PEs map. Else each PE has a copy. `tell` has bytes of this PE's copy written
     * to those of the others, of which the first 8 are a version: it is odd while the others are being written.
     * `decide` has the 8 bytes at `at` changed in all copies, this PE's too, if they are `before` still; it does not
     * wait, and where another PE was faster its word comes. What a PE tells is there before what it, or who has got
     * it, tells or decides later.
     */
    void (*board_tell)(struct wsh_boot *boot, size_t at, size_t len);
    void (*board_decide)(struct wsh_boot *boot, size_t at, uint64_t before, uint64_t after);

    /* Asks the launcher to end the whole job with exit status `status`; may return. Prints nothing. */
    void (*abort)(struct wsh_boot *boot, int status);
};

struct wsh_boot {
    const struct wsh_boot_ops *ops;
    void *priv;
    int my_pe, n_pes;
    int local_rank, local_size; /* as the launcher sees this host; a hint, verified by the blobs */
    char launcher[32];          /* "oshrun", "pmix", "pmi", "mpi" or "none", for messages */
    bool one_machine; /* the launcher started all PEs on this machine, emulated hosts or not; a hint */

    struct wsh_secret secret; /* of the job: the same for all PEs; from the first publish on */
    bool has_secret;
    uint32_t generation; /* counts shmem_init */

    /*
     * Counts the PEs that have failed, in memory that the launcher writes; NULL: a PE that fails ends the job. Acquire:
     * failed_at knows those that it counts.
     */
    const uint32_t *failures;
    double news_seconds; /* after which such a PE is counted at the latest */

    /* Set by the caller before wsh_boot_open, or NULL: as the environment says. Read by open only. */
    const struct wsh_boot_request *request;

    /*
     * Set by the caller before wsh_boot_open, or NULL: called when the job ends and no launcher ends this process,
     * after a logged line unless a PE has asked for it (abort). It runs in another thread, may call nothing of
     * wsh_boot, and ends the process with `status`.
     */
    void (*lost)(int status);
};

/*
 * As boot->request says; else finds how this process was started, in the order of env->bootstrap: PMIx, PMI, singleton.
 * A process that is evidently one of several (Slurm, Open MPI or oshrun variables) but finds no server is an error with
 * the cure, never a job of one PE. Called again after wsh_boot_close it joins the same job again (shmem_init after
 * shmem_finalize); by a unique id it joins another one.
 */
int wsh_boot_open(struct wsh_boot *boot, const struct wsh_env *env);
void wsh_boot_close(struct wsh_boot *boot);

/* Loads PMIx: `text` says which one was found, or why none was, with the cure. 0 or -1. */
int wsh_boot_pmix_library(char *text, size_t size);

#endif
