/* SPDX-License-Identifier: BSD-3-Clause */
/* The blobs of all hosts in one: each PE's is read back; what does not have each PE once is refused with one line. */
#include "bootstrap/blob/host_blobs.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 40, LEN = 300 };

static unsigned seed = 1;
static unsigned char blob[PES][LEN];
static struct wsh_host_part parts[PES];
static int host[PES];

static int below(int n)
{
    return rand_r(&seed) % n;
}

/* Alike but for a few bytes. Hosts take turns, or each PE is on any; the first PEs have one each. */
static void parts_make(int n, int n_hosts, bool in_turn)
{
    for (size_t at = 0; at < LEN; at++)
        blob[0][at] = (unsigned char)below(256);
    for (int pe = 0; pe < n; pe++) {
        memcpy(blob[pe], blob[0], LEN);
        for (int k = 0; k < 5; k++)
            blob[pe][below(LEN)] = (unsigned char)below(256);
        parts[pe] = (struct wsh_host_part){(uint32_t)pe, blob[pe], LEN - (size_t)below(3)};
        host[pe] = in_turn || pe < n_hosts ? pe % n_hosts : below(n_hosts);
    }
}

static void *pack(int n, int n_hosts, size_t *size)
{
    void *bytes;

    CU_ASSERT_EQUAL_FATAL(wsh_host_blobs_pack(parts, host, n, n_hosts, &bytes, size), 0);
    return bytes;
}

static void all_are_there(const struct wsh_host_blobs *blobs, int n)
{
    for (int pe = 0; pe < n; pe++) {
        void *found = NULL;
        size_t len = 0;

        CU_ASSERT_EQUAL_FATAL(wsh_host_blobs_find(blobs, pe, &found, &len), 0);
        CU_ASSERT(len == parts[pe].len && !memcmp(found, blob[pe], len));
        free(found);
    }
}

static void reads_back(void)
{
    for (int round = 0; round < unit_rounds(500); round++) {
        int n = 1 + below(PES), n_hosts = 1 + below(n);
        struct wsh_host_blobs blobs;
        size_t size;
        void *bytes;

        parts_make(n, n_hosts, round % 2);
        bytes = pack(n, n_hosts, &size);
        CU_ASSERT_EQUAL_FATAL(wsh_host_blobs_open(&blobs, bytes, size, n), 0);
        all_are_there(&blobs, n);
        wsh_host_blobs_close(&blobs);
        CU_ASSERT_PTR_NULL(blobs.bytes);
    }
}

/* A host's first PE takes its whole blob and its place, each other one its differences. */
static void hosts_are_small(void)
{
    size_t size;

    parts_make(PES, 2, true);
    free(pack(PES, 2, &size));
    CU_ASSERT(size < 2 * (LEN + 32) + PES * 40);
}

struct trial {
    void *bytes; /* malloc'd */
    size_t size;
    int n, rc;
};

/* What is opened is looked up too: each is found or refused. */
static void try(void *arg)
{
    struct trial *trial = arg;
    struct wsh_host_blobs blobs;
    void *found;
    size_t len;

    trial->rc = wsh_host_blobs_open(&blobs, trial->bytes, trial->size, trial->n);
    for (int pe = 0; pe < trial->n && !trial->rc; pe++) {
        trial->rc = wsh_host_blobs_find(&blobs, pe, &found, &len);
        if (!trial->rc)
            free(memset(found, 0, len));
    }
    wsh_host_blobs_close(&blobs);
}

static int judge(void *bytes, size_t size, int n)
{
    struct trial trial = {bytes, size, n, 0};
    char text[1024];

    unit_capture(try, &trial, text, sizeof text);
    CU_ASSERT(trial.rc == 0 || trial.rc == -EPROTO);
    CU_ASSERT_EQUAL(unit_lines(text), trial.rc ? 1 : 0);
    CU_ASSERT(!trial.rc || strstr(text, "; run one warpshmem on all hosts"));
    return trial.rc;
}

/* In memory of its own size, so that the sanitizers see a byte too many. */
static void *copy_of(const void *bytes, size_t size)
{
    void *copy = malloc(size ? size : 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    return memcpy(copy, bytes, size);
}

static void refuses_what_is_cut(void)
{
    size_t size;
    void *bytes;

    parts_make(12, 3, true);
    bytes = pack(12, 3, &size);
    for (size_t cut = 0; cut < size; cut++)
        CU_ASSERT_EQUAL(judge(copy_of(bytes, cut), cut, 12), -EPROTO);
    CU_ASSERT_EQUAL(judge(copy_of(bytes, size), size, 12), 0);
    free(bytes);
}

static void refuses_other_pes(void)
{
    size_t size, twice;
    void *bytes, *two;

    parts_make(4, 2, true);
    bytes = pack(4, 2, &size);
    CU_ASSERT_EQUAL(judge(copy_of(bytes, size), size, 3), -EPROTO);
    CU_ASSERT_EQUAL(judge(copy_of(bytes, size), size, 5), -EPROTO);
    twice = 2 * size;
    two = malloc(twice);
    memcpy(two, bytes, size);
    memcpy((char *)two + size, bytes, size);
    CU_ASSERT_EQUAL(judge(two, twice, 4), -EPROTO);
    parts[3].pe = 2;
    free(bytes);
    bytes = pack(4, 2, &size);
    CU_ASSERT_EQUAL(judge(bytes, size, 4), -EPROTO);
}

static void survives_damage(void)
{
    int refused = 0, rounds = unit_rounds(3000);

    for (int round = 0; round < rounds; round++) {
        size_t size;
        unsigned char *bytes;

        parts_make(9, 3, round % 2);
        bytes = pack(9, 3, &size);
        for (int change = 1 + below(3); change; change--)
            bytes[below(below(2) ? (int)size : 40)] = (unsigned char)below(256);
        refused += judge(copy_of(bytes, size), size, 9) != 0;
        free(bytes);
    }
    CU_ASSERT(refused > rounds / 10);
}

const struct unit_test unit_tests[] = {
    {"each PE's blob is read back, of any hosts", reads_back},
    {"a host's PEs take little", hosts_are_small},
    {"what is cut anywhere is refused", refuses_what_is_cut},
    {"more PEs, fewer, and one that is there twice are refused", refuses_other_pes},
    {"damage is refused with one line, or read inside its bytes", survives_damage},
    {NULL, NULL},
};
