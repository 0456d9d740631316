/* SPDX-License-Identifier: BSD-3-Clause */
/* How far each PE is, in oshrun's file: what the PEs and oshrun itself write and read. */
#define _GNU_SOURCE
#include "bootstrap/blob/blob_file.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct wsh_pe_note wsh_blob_file_note(int fd, int pe)
{
    struct wsh_pe_note note;

    if (pread(fd, &note, sizeof note, (off_t)((size_t)pe * WSH_BLOB_FILE_PART)) != (ssize_t)sizeof note)
        memset(&note, 0, sizeof note);
    return note;
}

void wsh_blob_file_note_state(int fd, int pe, enum wsh_pe_state state, pid_t pid)
{
    const off_t at = (off_t)((size_t)pe * WSH_BLOB_FILE_PART);
    const int32_t what[2] = {(int32_t)state, (int32_t)pid};
    const uint32_t yes = 1;

    (void)!pwrite(fd, what, sizeof what, at);
    if (state == WSH_PE_LEFT)
        (void)!pwrite(fd, &yes, sizeof yes, offsetof(struct wsh_pe_note, some_left));
}
