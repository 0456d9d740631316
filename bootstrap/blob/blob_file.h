/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blobs of a job of oshrun: a file in the job's temporary folder, in which each PE writes to a part of its own and
 * which all read, so that a look-up is no message to the launcher. What is written before a fence is read behind it.
 */
#ifndef WSH_BOOTSTRAP_BLOB_FILE_H
#define WSH_BOOTSTRAP_BLOB_FILE_H

#include "bootstrap/blob/blob.h"

#include <sys/types.h>

#define WSH_BLOB_FILE_PART \
    ((size_t)4 << 20) /* bytes for each PE, of which those that are not written take no room */

struct wsh_blob_file {
    int fd;
    size_t used;          /* of this PE's part */
    unsigned patience_ms; /* for what is missing: its PE may have died, and the job then ends by itself */
};

/* At the begin of each PE's part: how far it is, which oshrun reads when it has ended. */
enum wsh_pe_state {
    WSH_PE_NONE,
    WSH_PE_INSIDE, /* it has begun shmem_init */
    WSH_PE_FINALIZED,
    WSH_PE_LEFT,  /* has ended with status 0 and without shmem_finalize; by the PE, or by oshrun */
    WSH_PE_FAILED /* has ended otherwise, and the others go on; by oshrun */
};

struct wsh_pe_note {
    uint32_t state; /* WSH_PE_* */
    int32_t pid; /* of the process that is the PE: where a script started it, another than oshrun's child */
    uint32_t some_left; /* PE 0's part only: some PE has left */
    uint32_t failures;  /* PE 0's part only: counts PEs that have failed; by oshrun */
    uint32_t failed_at; /* what that was then; 0: this one has not failed. By oshrun */
    uint32_t zero;
};

/* 0 or a negative errno after one line. */
int wsh_blob_file_open(struct wsh_blob_file *file, const char *path);
void wsh_blob_file_close(struct wsh_blob_file *file);

/* Adds a blob. 0 or a negative errno after one line. */
int wsh_blob_file_put(struct wsh_blob_file *file, const struct wsh_blob_id *id, const void *blob, size_t len);
/* The one of that name, malloc'd; likewise. By any thread. */
int wsh_blob_file_get(const struct wsh_blob_file *file, const struct wsh_blob_id *id, void **blob,
                      size_t *len);

/* Of PE `pe`, 0 where nothing can be read; logs nothing. */
struct wsh_pe_note wsh_blob_file_note(int fd, int pe);
/* The same for writing. */
void wsh_blob_file_note_state(int fd, int pe, enum wsh_pe_state state, pid_t pid);

/* PE 0's `failures`, mapped for reading; NULL with errno. `forget` unmaps it. */
const uint32_t *wsh_blob_file_failures(int fd);
void wsh_blob_file_failures_forget(const uint32_t *failures);

/* `len` bytes behind the parts of `n_pes` PEs, which all map for reading and writing; NULL after one line. */
void *wsh_blob_file_board(int fd, int n_pes, size_t len);

#endif
