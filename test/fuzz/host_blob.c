/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever comes as the blobs of a host, or of all: a PE's is read inside its bytes, or refused with one line. */
#include "bootstrap/blob/host_blobs.h"

#include "test/fuzz/common/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 4 };

/* Some blobs of the input, packed; each is read back. */
static void *packed_make(struct fuzz_input *in, uint32_t first, size_t *size)
{
    int n = 1 + (int)fuzz_below(in, PES);
    struct wsh_host_part parts[PES];
    void *bytes;

    for (int i = 0; i < n; i++) {
        parts[i].pe = first + (uint32_t)i * 2;
        parts[i].blob = fuzz_copy(in, fuzz_below(in, 64), &parts[i].len);
    }
    FUZZ_CHECK(!wsh_host_blob_pack(parts, n, &bytes, size));
    for (int i = 0; i < n; i++) {
        void *blob;
        size_t len;

        FUZZ_CHECK(!wsh_host_blob_find(bytes, *size, parts[i].pe, &blob, &len));
        FUZZ_CHECK(len == parts[i].len && !memcmp(blob, parts[i].blob, len));
        free(blob);
        free((void *)parts[i].blob);
    }
    return bytes;
}

/* Damages a packed blob: changes bytes and cuts it, as the input says. */
static void *packed_damage(struct fuzz_input *in, unsigned char *bytes, size_t *size)
{
    for (unsigned changes = fuzz_below(in, 4); changes; changes--) {
        size_t at = fuzz_below(in, (unsigned)*size);

        bytes[at] = (unsigned char)fuzz_take(in, 1);
    }
    *size = fuzz_below(in, 8) ? *size : fuzz_below(in, (unsigned)*size);
    return realloc(bytes, *size ? *size : 1);
}

/* Behind a number of bytes, which the input may change: a host's among all hosts'. */
static void *hosts_make(struct fuzz_input *in, bool made, size_t *size)
{
    unsigned char *all = NULL;
    uint32_t hosts = 0;

    *size = 0;
    for (unsigned n = 1 + fuzz_below(in, 3); n; n--) {
        size_t one_size;
        void *one = made ? packed_make(in, hosts++, &one_size) : fuzz_copy(in, fuzz_below(in, 32), &one_size);
        uint64_t len = one_size;

        all = realloc(all, *size + sizeof len + one_size);
        memcpy(all + *size, &len, sizeof len);
        memcpy(all + *size + sizeof len, one, one_size);
        *size += sizeof len + one_size;
        free(one);
    }
    return packed_damage(in, all, size);
}

static void judge(int rc, void *blob, size_t len)
{
    FUZZ_CHECK(rc == 0 || rc == -EPROTO);
    FUZZ_CHECK(fuzz_lines() == (rc ? 1 : 0));
    if (rc)
        return;
    FUZZ_CHECK(len <= WSH_HOST_BLOB_PART);
    fuzz_read(blob, len);
    free(blob);
}

/* What is opened has each PE, whose blob is sound or refused. */
static void hosts_read(void *bytes, size_t size, int n_pes)
{
    struct wsh_host_blobs blobs;
    void *blob = NULL;
    size_t len = 0;
    int rc = wsh_host_blobs_open(&blobs, bytes, size, n_pes);

    if (rc) {
        judge(rc, NULL, 0);
        return;
    }
    for (int pe = 0; pe < n_pes; pe++) {
        rc = wsh_host_blobs_find(&blobs, pe, &blob, &len);
        judge(rc, blob, len);
    }
    wsh_host_blobs_close(&blobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    unsigned how = (unsigned)fuzz_take(&in, 1);
    unsigned pe = fuzz_below(&in, 8);
    void *bytes, *blob = NULL;
    size_t len, found = 0;
    int rc;

    if (how & 2) {
        bytes = hosts_make(&in, how & 1, &len);
        hosts_read(bytes, len, 1 + (int)pe);
        return 0;
    }
    bytes = how & 1 ? packed_make(&in, 0, &len) : fuzz_copy(&in, in.left, &len);
    if (how & 1)
        bytes = packed_damage(&in, bytes, &len);
    rc = wsh_host_blob_find(bytes, len, pe, &blob, &found);
    judge(rc, blob, found);
    free(bytes);
    return 0;
}
