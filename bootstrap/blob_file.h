/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blobs of a job of oshrun: a file in the job's temporary folder, in which each PE writes to a part of its own and
 * which all read, so that a look-up is no message to the launcher. What is written before a fence is read behind it.
 */
#ifndef WSH_BOOTSTRAP_BLOB_FILE_H
#define WSH_BOOTSTRAP_BLOB_FILE_H

#include "bootstrap/blob.h"

#define WSH_BLOB_FILE_PART \
    ((size_t)4 << 20) /* bytes for each PE, of which those that are not written take no room */

struct wsh_blob_file {
    int fd;
    size_t used; /* of this PE's part */
};

/* 0 or a negative errno after one line. */
int wsh_blob_file_open(struct wsh_blob_file *file, const char *path);
void wsh_blob_file_close(struct wsh_blob_file *file);

/* Adds a blob. 0 or a negative errno after one line. */
int wsh_blob_file_put(struct wsh_blob_file *file, const struct wsh_blob_id *id, const void *blob, size_t len);
/* The one of that name, malloc'd; likewise. By any thread. */
int wsh_blob_file_get(const struct wsh_blob_file *file, const struct wsh_blob_id *id, void **blob,
                      size_t *len);

#endif
