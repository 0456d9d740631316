/* SPDX-License-Identifier: BSD-3-Clause */
/* A short list of callbacks under a lock: reports are rare. */
#include "runtime/wait/notes.h"

#include "base/log.h"

#include <errno.h>
#include <pthread.h>

enum { NOTES_MAX = 64 };

static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    wsh_note_describe describe; /* NULL: free */
    void *arg;
} notes[NOTES_MAX];

/* Index of `arg`, or with `free` an unused one; -1: none. The lock is held. */
static int note_find(const void *arg, int free)
{
    for (int i = 0; i < NOTES_MAX; i++) {
        if (free ? !notes[i].describe : notes[i].describe && notes[i].arg == arg)
            return i;
    }
    return -1;
}

int wsh_note_add(wsh_note_describe describe, void *arg)
{
    int at;

    pthread_mutex_lock(&notes_lock);
    at = note_find(NULL, 1);
    if (at >= 0) {
        notes[at].describe = describe;
        notes[at].arg = arg;
    }
    pthread_mutex_unlock(&notes_lock);
    return at >= 0 ? 0 : -ENOSPC;
}

int wsh_note_remove(void *arg)
{
    int at;

    pthread_mutex_lock(&notes_lock);
    at = note_find(arg, 0);
    if (at >= 0)
        notes[at].describe = NULL;
    pthread_mutex_unlock(&notes_lock);
    return at >= 0 ? 0 : -ENOENT;
}

void wsh_notes_log(void)
{
    pthread_mutex_lock(&notes_lock);
    for (int i = 0; i < NOTES_MAX; i++) {
        char text[512] = "";

        if (!notes[i].describe)
            continue;
        notes[i].describe(notes[i].arg, text, sizeof text);
        text[sizeof text - 1] = 0; /* it may have filled all of it */
        if (*text)
            wsh_warn("%s", text);
    }
    pthread_mutex_unlock(&notes_lock);
}
