/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever a launcher brings as a PE's blob: it is read as that PE wrote it, or refused with one line. */
#include "bootstrap/blob/blob.h"

#include "test/fuzz/common/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct wsh_blob_id id_take(struct fuzz_input *in)
{
    return (struct wsh_blob_id){(uint32_t)fuzz_take(in, 1), (uint32_t)fuzz_take(in, 1),
                                (uint32_t)fuzz_take(in, 1)};
}

/* A blob as a PE writes it, with bytes of the input changed. */
static void *blob_make(struct fuzz_input *in, const struct wsh_blob_id *id, size_t *size)
{
    size_t len, keep;
    void *inside = fuzz_copy(in, fuzz_below(in, 64), &len), *bytes;
    char *copy;

    FUZZ_CHECK(!wsh_blob_wrap(id, inside, len, &bytes, size));
    for (unsigned changes = fuzz_below(in, 4); changes; changes--) {
        size_t at = fuzz_below(in, (unsigned)*size);

        ((char *)bytes)[at] = (char)fuzz_take(in, 1);
    }
    keep = fuzz_below(in, 8) ? *size : fuzz_below(in, (unsigned)*size);
    copy = malloc(keep ? keep : 1);
    memcpy(copy, bytes, keep);
    *size = keep;
    free(inside);
    free(bytes);
    return copy;
}

static void blob_read(const struct wsh_blob_id *id, const void *bytes, size_t size)
{
    void *blob = NULL, *again;
    size_t len, again_size;
    int rc = wsh_blob_unwrap(id, bytes, size, &blob, &len);

    FUZZ_CHECK(rc == 0 || rc == -EPROTO);
    FUZZ_CHECK(fuzz_lines() == (rc ? 1 : 0));
    if (rc)
        return;
    FUZZ_CHECK(!wsh_blob_wrap(id, blob, len, &again, &again_size));
    /* But for the four unused bytes, a blob that is taken is the one that its PE wrote. */
    FUZZ_CHECK(again_size == size && !memcmp(again, bytes, 20) &&
               !memcmp((char *)again + 24, (const char *)bytes + 24, size - 24));
    free(again);
    free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    bool made = fuzz_take(&in, 1) & 1;
    struct wsh_blob_id id = id_take(&in), wanted = fuzz_below(&in, 4) ? id : id_take(&in);
    size_t len;
    void *bytes = made ? blob_make(&in, &id, &len) : fuzz_copy(&in, in.left, &len);

    blob_read(&wanted, bytes, len);
    free(bytes);
    return 0;
}
