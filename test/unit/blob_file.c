/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshrun's file of addresses: blobs of several rounds and PEs are read back; one that was not written, is damaged, does
 * not fit, or is behind a symbolic link: one line.
 */
#define _GNU_SOURCE
#include "bootstrap/blob/blob_file.h"

#include "test/common/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_PES = 3, ROUNDS = 20 };

static char path[] = "/tmp/blob_file.XXXXXX";
static struct wsh_blob_file file[N_PES];

static void files_open(void)
{
    int fd;

    strcpy(path + strlen(path) - 6, "XXXXXX");
    fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    for (int pe = 0; pe < N_PES; pe++)
        CU_ASSERT_EQUAL_FATAL(wsh_blob_file_open(&file[pe], path), 0);
}

static void files_close(void)
{
    for (int pe = 0; pe < N_PES; pe++)
        wsh_blob_file_close(&file[pe]);
    unlink(path);
}

static struct wsh_blob_id id_of(int round, int pe)
{
    return (struct wsh_blob_id){1, (uint32_t)round, (uint32_t)pe};
}

static int put_text(int round, int pe, size_t len)
{
    struct wsh_blob_id id = id_of(round, pe);
    char text[4096];

    memset(text, 'a' + round, sizeof text);
    return wsh_blob_file_put(&file[pe], &id, text, len);
}

static bool is_text(int reader, int round, int pe, size_t expected)
{
    struct wsh_blob_id id = id_of(round, pe);
    void *blob;
    size_t len;
    bool same;

    if (wsh_blob_file_get(&file[reader], &id, &blob, &len))
        return false;
    same = len == expected && ((char *)blob)[0] == 'a' + round && ((char *)blob)[len - 1] == 'a' + round;
    free(blob);
    return same;
}

static void reads_back_all_rounds(void)
{
    files_open();
    for (int round = 0; round < ROUNDS; round++) {
        for (int pe = 0; pe < N_PES; pe++)
            CU_ASSERT_EQUAL(put_text(round, pe, (size_t)(100 + 17 * round + pe)), 0);
        for (int pe = 0; pe < N_PES; pe++) /* earlier ones too */
            CU_ASSERT(is_text((pe + 1) % N_PES, round / 2, pe, (size_t)(100 + 17 * (round / 2) + pe)));
    }
    files_close();
}

static struct wsh_blob_id asked;
static int rc;

static void ask(void *unused)
{
    void *blob;
    size_t len;

    (void)unused;
    rc = wsh_blob_file_get(&file[0], &asked, &blob, &len);
}

static void is_refused(int round, int pe, const char *word)
{
    char text[512];

    asked = id_of(round, pe);
    unit_capture(ask, NULL, text, sizeof text);
    CU_ASSERT(rc < 0 && unit_lines(text) == 1 && strstr(text, word));
}

static void says_what_is_missing(void)
{
    files_open();
    is_refused(0, 1, "PE 1 published nothing in round 0");
    CU_ASSERT_EQUAL(put_text(0, 1, 10), 0);
    CU_ASSERT(is_text(0, 0, 1, 10));
    is_refused(1, 1, "PE 1 published nothing in round 1");
    is_refused(0, 2, "PE 2 published nothing in round 0");
    files_close();
}

/* A byte of the frame, a length beyond the part. */
static void says_what_is_damaged(void)
{
    const off_t frame = WSH_BLOB_FILE_PART + sizeof(struct wsh_pe_note);
    const uint64_t huge = UINT64_MAX - 3;

    files_open();
    CU_ASSERT_EQUAL(put_text(0, 1, 10), 0);
    CU_ASSERT(pwrite(file[1].fd, "?", 1, frame + 24) == 1);
    is_refused(0, 1, "PE 1 published something else in round 0");
    CU_ASSERT(pwrite(file[1].fd, &huge, sizeof huge, frame) == sizeof huge);
    is_refused(0, 1, "PE 1 published nothing in round 0");
    files_close();
}

static void fill(void *unused)
{
    (void)unused;
    rc = put_text(1, 0, 4096);
}

static void says_when_it_is_full(void)
{
    char text[512];

    files_open();
    for (rc = 0; !rc && file[0].used + 2 * 4096 < WSH_BLOB_FILE_PART;)
        rc = put_text(0, 0, 4096);
    CU_ASSERT_EQUAL(rc, 0);
    for (int i = 0; i < 3 && !rc; i++) {
        unit_capture(fill, NULL, text, sizeof text);
    }
    CU_ASSERT(rc == -ENOSPC && unit_lines(text) == 1 && strstr(text, "No space left"));
    CU_ASSERT(is_text(1, 0, 0, 4096));
    files_close();
}

static char link_path[64];

static void open_link(void *unused)
{
    struct wsh_blob_file opened;

    (void)unused;
    rc = wsh_blob_file_open(&opened, link_path);
}

static void follows_no_link(void)
{
    char text[512];

    files_open();
    snprintf(link_path, sizeof link_path, "%s.link", path);
    CU_ASSERT_EQUAL_FATAL(symlink(path, link_path), 0);
    unit_capture(open_link, NULL, text, sizeof text);
    CU_ASSERT(rc == -ELOOP && unit_lines(text) == 1);
    unlink(link_path);
    unit_capture(open_link, NULL, text, sizeof text);
    CU_ASSERT(rc == -ENOENT && unit_lines(text) == 1);
    files_close();
}

const struct unit_test unit_tests[] = {
    {"blobs of all rounds and PEs are read back", reads_back_all_rounds},
    {"what was not written is named", says_what_is_missing},
    {"what is damaged is named", says_what_is_damaged},
    {"a full part is refused, and what is there stays", says_when_it_is_full},
    {"no symbolic link is followed, and a missing file is named", follows_no_link},
    {NULL, NULL},
};
