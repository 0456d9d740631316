/* SPDX-License-Identifier: BSD-3-Clause */
/* The blobs of a host in one: each is read back, what they share is left out, damage is refused with one line. */
#include "bootstrap/blob/host_blob.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 9, LEN = 700 };

static unsigned seed = 1;
static unsigned char blob[PES][LEN];
static struct wsh_host_part parts[PES];

/* Numbers of PEs with gaps, as where hosts take turns; equal but for `differ` bytes, and zeros in the middle. */
static void parts_make(int n, size_t differ)
{
    for (size_t at = 0; at < LEN; at++)
        blob[0][at] = at > 200 && at < 500 ? 0 : (unsigned char)rand_r(&seed);
    for (int i = 0; i < n; i++) {
        if (i)
            memcpy(blob[i], blob[0], LEN);
        for (size_t k = 0; i && k < differ; k++)
            blob[i][(size_t)rand_r(&seed) % LEN] = (unsigned char)rand_r(&seed);
        parts[i] = (struct wsh_host_part){(uint32_t)(3 * i + 2), blob[i], LEN};
    }
}

static void parts_read(int n, const void *bytes, size_t size)
{
    for (int i = 0; i < n; i++) {
        void *found = NULL;
        size_t len = 0;

        CU_ASSERT_EQUAL_FATAL(wsh_host_blob_find(bytes, size, parts[i].pe, &found, &len), 0);
        CU_ASSERT(len == parts[i].len && !memcmp(found, parts[i].blob, len));
        free(found);
    }
}

/* Packs, reads all back, and says how large it was. */
static size_t there_and_back(int n)
{
    void *bytes;
    size_t size;

    CU_ASSERT_EQUAL_FATAL(wsh_host_blob_pack(parts, n, &bytes, &size), 0);
    parts_read(n, bytes, size);
    free(bytes);
    return size;
}

static void reads_back(void)
{
    for (int round = 0; round < unit_rounds(3000); round++) {
        int n = 1 + rand_r(&seed) % PES;

        parts_make(n, (size_t)rand_r(&seed) % LEN);
        for (int i = 0; i < n; i++)
            parts[i].len = rand_r(&seed) % 4 ? LEN : (size_t)rand_r(&seed) % LEN;
        there_and_back(n);
    }
}

static void takes_any_lengths(void)
{
    parts_make(3, 9);
    for (parts[0].len = 0; parts[0].len < 12; parts[0].len++)
        for (parts[1].len = 0; parts[1].len < 12; parts[1].len++)
            there_and_back(3);
}

static void leaves_out_what_is_shared(void)
{
    parts_make(PES, 0);
    CU_ASSERT(there_and_back(PES) < 400 + 20 + PES * 14);
    parts_make(PES, 8);
    CU_ASSERT(there_and_back(PES) < 400 + 20 + PES * (14 + 8 * 4));
}

/* Every second group of bytes is the reference's: the most runs that there can be. */
static void worst_case_has_room(void)
{
    parts_make(2, 0);
    for (size_t at = 0; at < LEN; at += 4)
        blob[1][at] ^= 1;
    there_and_back(2);
}

struct trial {
    const void *bytes;
    size_t size, len;
    uint32_t pe;
    int rc;
};

static void try(void *arg)
{
    struct trial *trial = arg;
    void *found = NULL;

    trial->rc = wsh_host_blob_find(trial->bytes, trial->size, trial->pe, &found, &trial->len);
    if (trial->rc)
        return;
    memset(found, 0, trial->len); /* all of it is memory, or a sanitizer says so */
    free(found);
}

/* One line where it is refused, none where not. */
static int judge(const void *bytes, size_t size, uint32_t pe)
{
    struct trial trial = {bytes, size, 0, pe, 0};
    char text[512];

    unit_capture(try, &trial, text, sizeof text);
    CU_ASSERT(trial.rc == 0 || trial.rc == -EPROTO);
    CU_ASSERT_EQUAL(unit_lines(text), trial.rc ? 1 : 0);
    CU_ASSERT(!trial.rc || strstr(text, "has no start-up data of it"));
    return trial.rc;
}

static void refuses_what_is_cut_or_absent(void)
{
    void *bytes;
    size_t size;

    parts_make(PES, 20);
    CU_ASSERT_EQUAL_FATAL(wsh_host_blob_pack(parts, PES, &bytes, &size), 0);
    for (size_t cut = 0; cut < size; cut += 7) {
        void *copy = malloc(cut ? cut : 1);

        memcpy(copy, bytes, cut);
        CU_ASSERT_EQUAL(judge(copy, cut, parts[PES - 1].pe), -EPROTO);
        free(copy);
    }
    CU_ASSERT_EQUAL(judge(bytes, size, 0), -EPROTO);
    CU_ASSERT_EQUAL(judge(bytes, size, 3), -EPROTO);
    CU_ASSERT_EQUAL(judge(bytes, size, UINT32_MAX), -EPROTO);
    free(bytes);
}

/* In memory of its own size, so that the sanitizers see a byte too many. */
static void survives_damage(void)
{
    for (int round = 0; round < unit_rounds(3000); round++) {
        unsigned char *bytes;
        void *packed;
        size_t size;

        parts_make(PES, 20);
        CU_ASSERT_EQUAL_FATAL(wsh_host_blob_pack(parts, PES, &packed, &size), 0);
        bytes = packed;
        for (int change = 1 + rand_r(&seed) % 3; change; change--)
            bytes[(size_t)rand_r(&seed) % (rand_r(&seed) % 2 ? size : 90)] = (unsigned char)rand_r(&seed);
        bytes = realloc(bytes, size);
        judge(bytes, size, parts[rand_r(&seed) % PES].pe);
        free(bytes);
    }
}

/* A length that the bytes do not fill, and runs of nothing. */
static void refuses_endless_runs(void)
{
    static const unsigned char runs[] = {1, 0, 0, 0, 7, 0, 0, 0, 6, 0, 0, 0, 4, 0, 0, 0, 0, 0},
                               long_one[] = {1, 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0, 255, 255, 255, 255, 15};

    CU_ASSERT_EQUAL(judge(runs, sizeof runs, 7), -EPROTO);
    CU_ASSERT_EQUAL(judge(long_one, sizeof long_one, 7), -EPROTO);
}

static void pack_long(void *arg)
{
    void *bytes;
    size_t size;

    parts_make(2, 0);
    parts[1].len = WSH_HOST_BLOB_PART + 1;
    *(int *)arg = wsh_host_blob_pack(parts, 2, &bytes, &size);
}

static void does_not_publish_what_is_refused(void)
{
    char text[512];
    int rc = 0;

    unit_capture(pack_long, &rc, text, sizeof text);
    CU_ASSERT_EQUAL(rc, -EMSGSIZE);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "PE 5 publishes 4194305 bytes, at most 4194304 are possible"));
}

const struct unit_test unit_tests[] = {
    {"each blob is read back as it was packed", reads_back},
    {"so are those of no bytes and of few", takes_any_lengths},
    {"what blobs share, and zeros, are left out", leaves_out_what_is_shared},
    {"blobs that share every second run fit", worst_case_has_room},
    {"what is cut, and a PE that is not in it, are refused", refuses_what_is_cut_or_absent},
    {"damage is refused with one line, or is read inside its bytes", survives_damage},
    {"runs of nothing and lengths beyond all are refused", refuses_endless_runs},
    {"a blob that a reader would refuse is not published", does_not_publish_what_is_refused},
    {NULL, NULL},
};
