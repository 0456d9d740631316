/* SPDX-License-Identifier: BSD-3-Clause */
/* The blobs of a job of oshrun in a file: records behind each other in the part of each PE, the last one empty. */
#define _GNU_SOURCE
#include "bootstrap/blob/blob_file.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct record {
    uint64_t size; /* of the blob behind it, 0: there is none */
    struct wsh_blob_id id;
    uint32_t zero;
};

static int file_failed(const char *what, int err)
{
    wsh_error("oshrun's file of addresses cannot be %s: %s; %s", what, wsh_strerror(err),
              wsh_err_cure(-err, "the job's folder below TMPDIR must have room, and be seen by all PEs"));
    return -err;
}

int wsh_blob_file_open(struct wsh_blob_file *file, const char *path)
{
    file->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    file->used = sizeof(struct wsh_pe_note);
    file->patience_ms = 0;
    return file->fd < 0 ? file_failed("opened", errno) : 0;
}

void wsh_blob_file_close(struct wsh_blob_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* All of it; a signal may cut a call. */
static int write_all(int fd, const char *bytes, size_t size, off_t at)
{
    while (size) {
        ssize_t n = pwrite(fd, bytes, size, at);

        if (n < 0 && errno != EINTR)
            return file_failed("written", errno);
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
        at += n > 0 ? n : 0;
    }
    return 0;
}

static int file_add(struct wsh_blob_file *file, const struct wsh_blob_id *id, const void *bytes, size_t size)
{
    const struct record record = {size, *id, 0};
    size_t len = 2 * sizeof record + size; /* with the empty one behind it */
    char *text;
    int rc;

    if (len > WSH_BLOB_FILE_PART - file->used)
        return file_failed("written", ENOSPC);
    text = calloc(1, len);
    if (!text)
        return -ENOMEM;
    memcpy(text, &record, sizeof record);
    memcpy(text + sizeof record, bytes, size);
    rc = write_all(file->fd, text, len, (off_t)(id->pe * WSH_BLOB_FILE_PART + file->used));
    free(text);
    file->used += sizeof record + size;
    return rc;
}

static int read_blob(const struct wsh_blob_file *file, off_t at, size_t size, void **bytes)
{
    *bytes = malloc(size);
    if (!*bytes)
        return -ENOMEM;
    if (pread(file->fd, *bytes, size, at) == (ssize_t)size)
        return 0;
    free(*bytes);
    return file_failed("read", EIO);
}

/* -ENOENT: it is not there. */
static int file_look(const struct wsh_blob_file *file, const struct wsh_blob_id *id, void **bytes,
                     size_t *size)
{
    off_t at = (off_t)(id->pe * WSH_BLOB_FILE_PART);
    size_t used = sizeof(struct wsh_pe_note);
    struct record record;

    while (used + sizeof record <= WSH_BLOB_FILE_PART &&
           pread(file->fd, &record, sizeof record, at + (off_t)used) == (ssize_t)sizeof record &&
           record.size && record.size <= WSH_BLOB_FILE_PART - used - sizeof record) {
        used += sizeof record;
        *size = record.size;
        if (!memcmp(&record.id, id, sizeof *id))
            return read_blob(file, at + (off_t)used, record.size, bytes);
        used += record.size;
    }
    return -ENOENT;
}

static int file_find(const struct wsh_blob_file *file, const struct wsh_blob_id *id, void **bytes,
                     size_t *size)
{
    const struct timespec pause = {0, 20 * 1000000};
    int rc = file_look(file, id, bytes, size);

    for (unsigned ms = 0; rc == -ENOENT && ms < file->patience_ms; ms += 20) {
        nanosleep(&pause, NULL);
        rc = file_look(file, id, bytes, size);
    }
    if (rc != -ENOENT)
        return rc;
    if (wsh_blob_file_note(file->fd, (int)id->pe).failed_at) {
        wsh_error("PE %u has failed: in a job that has lost a PE no shmem_init can follow shmem_finalize",
                  id->pe);
        return -EOWNERDEAD;
    }
    wsh_error(
        "PE %u published nothing in round %u (oshrun's file of addresses); do all PEs run the same program?",
        id->pe, id->round);
    return -EPROTO;
}

int wsh_blob_file_put(struct wsh_blob_file *file, const struct wsh_blob_id *id, const void *blob, size_t len)
{
    void *bytes;
    size_t size;
    int rc = wsh_blob_wrap(id, blob, len, &bytes, &size);

    if (rc)
        return rc;
    rc = file_add(file, id, bytes, size);
    free(bytes);
    return rc;
}

int wsh_blob_file_get(const struct wsh_blob_file *file, const struct wsh_blob_id *id, void **blob,
                      size_t *len)
{
    void *bytes;
    size_t size;
    int rc = file_find(file, id, &bytes, &size);

    if (rc)
        return rc;
    rc = wsh_blob_unwrap(id, bytes, size, blob, len);
    free(bytes);
    return rc;
}
