/* SPDX-License-Identifier: BSD-3-Clause */
/* How far each PE is, in oshrun's file: what the PEs and oshrun itself write and read. */
#define _GNU_SOURCE
#include "bootstrap/blob/blob_file.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct wsh_pe_note wsh_blob_file_note(int fd, int pe)
{
    struct wsh_pe_note note;

    if (pread(fd, &note, sizeof note, (off_t)((size_t)pe * WSH_BLOB_FILE_PART)) != (ssize_t)sizeof note)
        memset(&note, 0, sizeof note);
    return note;
}

/* Who sees the count sees what it counts. */
static void failures_count(int fd, off_t at)
{
    const uint32_t n = wsh_blob_file_note(fd, 0).failures + 1;

    (void)!pwrite(fd, &n, sizeof n, at + (off_t)offsetof(struct wsh_pe_note, failed_at));
    (void)!pwrite(fd, &n, sizeof n, offsetof(struct wsh_pe_note, failures));
}

void wsh_blob_file_note_state(int fd, int pe, enum wsh_pe_state state, pid_t pid)
{
    const off_t at = (off_t)((size_t)pe * WSH_BLOB_FILE_PART);
    const int32_t what[2] = {(int32_t)state, (int32_t)pid};
    const uint32_t yes = 1;

    (void)!pwrite(fd, what, sizeof what, at);
    if (state == WSH_PE_LEFT)
        (void)!pwrite(fd, &yes, sizeof yes, offsetof(struct wsh_pe_note, some_left));
    if (state == WSH_PE_FAILED)
        failures_count(fd, at);
}

const uint32_t *wsh_blob_file_failures(int fd)
{
    char *page = mmap(NULL, sizeof(struct wsh_pe_note), PROT_READ, MAP_SHARED, fd, 0);

    return page == MAP_FAILED ? NULL : (const uint32_t *)(page + offsetof(struct wsh_pe_note, failures));
}

void wsh_blob_file_failures_forget(const uint32_t *failures)
{
    if (failures)
        munmap((char *)failures - offsetof(struct wsh_pe_note, failures), sizeof(struct wsh_pe_note));
}

void *wsh_blob_file_board(int fd, int n_pes, size_t len)
{
    const off_t at = (off_t)((size_t)n_pes * WSH_BLOB_FILE_PART);
    void *board = ftruncate(fd, at + (off_t)len)
                      ? MAP_FAILED
                      : mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);

    if (board != MAP_FAILED)
        return board;
    wsh_error(
        "oshrun's file cannot be mapped, which SHMEM_ON_PE_FAILURE=continue needs: %s; put TMPDIR on a file "
        "system of this host",
        wsh_strerror(errno));
    return NULL;
}
