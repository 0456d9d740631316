/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame around a published blob: read back as written; cut, stale, foreign or of another version: one line. */
#include "bootstrap/blob/blob.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct wsh_blob_id mine = {.generation = 2, .round = 1, .pe = 3};

struct trial {
    struct wsh_blob_id id;
    size_t size, change; /* bytes kept; the byte changed, SIZE_MAX = none */
    int rc;
};

static void try(void *arg)
{
    struct trial *trial = arg;
    void *bytes, *blob = NULL;
    size_t size, len;

    CU_ASSERT_EQUAL_FATAL(wsh_blob_wrap(&mine, "address", 8, &bytes, &size), 0);
    if (trial->change < size)
        ((char *)bytes)[trial->change] ^= 1;
    trial->rc = wsh_blob_unwrap(&trial->id, bytes, trial->size < size ? trial->size : size, &blob, &len);
    if (!trial->rc)
        CU_ASSERT(len == 8 && !memcmp(blob, "address", 8));
    free(blob);
    free(bytes);
}

/* Refused with one line that has `word` in it. */
static void refused(struct trial trial, const char *word)
{
    char text[512];

    unit_capture(try, &trial, text, sizeof text);
    CU_ASSERT_EQUAL(trial.rc, -EPROTO);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
}

static void reads_back(void)
{
    struct trial trial = {mine, SIZE_MAX, SIZE_MAX, 1};

    try(&trial);
    CU_ASSERT_EQUAL(trial.rc, 0);
}

static void refuses_what_is_cut(void)
{
    for (size_t size = 0; size < 40; size++)
        refused((struct trial){mine, size, SIZE_MAX, 0}, "PE 3 published something else in round 1");
}

static void refuses_what_is_not_asked_for(void)
{
    struct wsh_blob_id stale = mine, other = mine;

    stale.generation++;
    other.pe--;
    refused((struct trial){stale, SIZE_MAX, SIZE_MAX, 0}, "PE 3 published something else");
    refused((struct trial){other, SIZE_MAX, SIZE_MAX, 0}, "PE 2 published something else");
}

static void names_another_version(void)
{
    refused((struct trial){mine, SIZE_MAX, 4, 0}, "PE 3 runs another version of warpshmem");
    refused((struct trial){mine, SIZE_MAX, 0, 0}, "PE 3 published something else");
}

const struct unit_test unit_tests[] = {
    {"a blob is read back as it was written", reads_back},
    {"a blob that is cut is refused", refuses_what_is_cut},
    {"a blob of another shmem_init or PE is refused", refuses_what_is_not_asked_for},
    {"a blob of another version is named as such", names_another_version},
    {NULL, NULL},
};
