/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes and checks the frame around a PE's blob. PMIx may return what an earlier job or another version of the library
 * published, so a reader checks that the blob is whole, current and of its own version.
 */
#include "bootstrap/blob/blob.h"

#include "base/err.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* All PEs run on one machine architecture, so the frame is sent in its byte order. */
struct frame {
    uint32_t magic, version;
    struct wsh_blob_id id;
    uint32_t unused;
    uint64_t len;
};

#define BLOB_MAGIC 0x4d485357u /* "WSHM" */
#define BLOB_VERSION 2u

static void *blob_allocate(size_t size)
{
    void *bytes = malloc(size ? size : 1);

    if (!bytes)
        wsh_error("bootstrap: out of memory (%zu bytes)", size);
    return bytes;
}

int wsh_blob_wrap(const struct wsh_blob_id *id, const void *blob, size_t len, void **bytes, size_t *size)
{
    struct frame frame = {BLOB_MAGIC, BLOB_VERSION, *id, 0, len};

    *size = sizeof frame + len;
    *bytes = blob_allocate(*size);
    if (!*bytes)
        return -ENOMEM;
    memcpy(*bytes, &frame, sizeof frame);
    if (len)
        memcpy((char *)*bytes + sizeof frame, blob, len);
    return 0;
}

static int frame_check(const struct wsh_blob_id *id, const struct frame *frame, size_t size)
{
    if (frame->magic == BLOB_MAGIC && frame->version != BLOB_VERSION) {
        wsh_error("PE %u runs another version of warpshmem (bootstrap %u, ours %u); install one version on "
                  "all hosts",
                  id->pe, frame->version, BLOB_VERSION);
        return -EPROTO;
    }
    if (frame->magic == BLOB_MAGIC && !memcmp(&frame->id, id, sizeof *id) &&
        frame->len == size - sizeof *frame)
        return 0;
    wsh_error("PE %u published something else in round %u (%zu bytes); do all PEs run the same program?",
              id->pe, id->round, size);
    return -EPROTO;
}

int wsh_blob_unwrap(const struct wsh_blob_id *id, const void *bytes, size_t size, void **blob, size_t *len)
{
    struct frame frame = {0};
    int rc;

    if (size >= sizeof frame)
        memcpy(&frame, bytes, sizeof frame);
    rc = frame_check(id, &frame, size);
    if (rc)
        return rc;
    *len = size - sizeof frame;
    *blob = blob_allocate(*len);
    if (!*blob)
        return -ENOMEM;
    memcpy(*blob, (const char *)bytes + sizeof frame, *len);
    return 0;
}
