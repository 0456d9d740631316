/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the PEs have noted of themselves, and adds who has left. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/server/pe_notes.h"

#include "bootstrap/blob/blob_file.h"

#include <fcntl.h>
#include <unistd.h>

void wsh_reap_notes(struct wsh_reap *reap, const char *path)
{
    reap->file = path;
    reap->notes = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

static struct wsh_pe_note note_of(const struct wsh_reap *reap, const struct wsh_pe *pe)
{
    return wsh_blob_file_note(reap->notes, (int)(pe - reap->pes));
}

bool wsh_noted_finalized(const struct wsh_reap *reap, const struct wsh_pe *pe)
{
    return note_of(reap, pe).state >= WSH_PE_FINALIZED;
}

bool wsh_noted_itself(const struct wsh_reap *reap, const struct wsh_pe *pe)
{
    return note_of(reap, pe).pid == pe->pid;
}

/* One that has exited with status 0 has left. The others, which may need it, are told, and so is the user, once. */
static void left_say(struct wsh_reap *reap, int i)
{
    char name[128];

    wsh_blob_file_note_state(reap->notes, i, WSH_PE_LEFT, reap->pes[i].pid);
    if (!reap->n_running || reap->left_said)
        return;
    reap->left_said = true;
    wsh_reap_name(reap, i, name, sizeof name);
    wsh_say("%s has left: it exited with status 0 without shmem_finalize; the others go on", name);
}

void wsh_noted_end(struct wsh_reap *reap, int i)
{
    struct wsh_pe *pe = &reap->pes[i];

    if (pe->running || !pe->pid || pe->status || !pe->joined || pe->judged)
        return;
    pe->judged = wsh_noted_itself(reap, pe) || wsh_noted_finalized(reap, pe);
    if (!pe->judged)
        return;
    pe->inside = false;
    if (note_of(reap, pe).state != WSH_PE_FINALIZED)
        left_say(reap, i);
}

void wsh_noted_failed(struct wsh_reap *reap, int i)
{
    wsh_blob_file_note_state(reap->notes, i, WSH_PE_FAILED, reap->pes[i].pid);
}
