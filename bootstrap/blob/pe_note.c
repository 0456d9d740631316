/* SPDX-License-Identifier: BSD-3-Clause */
/* How far each PE is, in oshrun's file: what the PEs and oshrun itself write and read. */
#define _GNU_SOURCE
#include "bootstrap/blob/blob_file.h"

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

/* After the state of the PE that has: who sees the count sees that. */
static void failures_count(int fd)
{
    const uint32_t n = wsh_blob_file_note(fd, 0).failures + 1;

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
        failures_count(fd);
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
