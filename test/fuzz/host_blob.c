/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever comes as the blobs of a host: a PE's is read inside its bytes, or refused with one line. */
#include "bootstrap/host_blob.h"

#include "test/fuzz/common/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 4 };

/* Some blobs of the input, packed; each is read back. */
static void *packed_make(struct fuzz_input *in, size_t *size)
{
    int n = 1 + (int)fuzz_below(in, PES);
    struct wsh_host_part parts[PES];
    void *bytes;

    for (int i = 0; i < n; i++) {
        parts[i].pe = (uint32_t)i * 2;
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

/* … with bytes of the input changed, and cut. */
static void *packed_damage(struct fuzz_input *in, unsigned char *bytes, size_t *size)
{
    for (unsigned changes = fuzz_below(in, 4); changes; changes--) {
        size_t at = fuzz_below(in, (unsigned)*size);

        bytes[at] = (unsigned char)fuzz_take(in, 1);
    }
    *size = fuzz_below(in, 8) ? *size : fuzz_below(in, (unsigned)*size);
    return realloc(bytes, *size ? *size : 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    bool made = fuzz_take(&in, 1) & 1;
    uint32_t pe = (uint32_t)fuzz_below(&in, 8);
    void *bytes, *blob;
    size_t len, found;
    int rc;

    if (made) {
        bytes = packed_make(&in, &len);
        bytes = packed_damage(&in, bytes, &len);
    } else {
        bytes = fuzz_copy(&in, in.left, &len);
    }
    rc = wsh_host_blob_find(bytes, len, pe, &blob, &found);
    FUZZ_CHECK(rc == 0 || rc == -EPROTO);
    FUZZ_CHECK(fuzz_lines() == (rc ? 1 : 0));
    if (!rc) {
        FUZZ_CHECK(found <= WSH_HOST_BLOB_PART);
        fuzz_read(blob, found);
        free(blob);
    }
    free(bytes);
    return 0;
}
