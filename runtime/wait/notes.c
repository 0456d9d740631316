/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of callbacks under a lock: reports are rare. It grows: each instance of a library may have one. */
#include "runtime/wait/notes.h"

#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_FIRST = 16 };

struct note {
    wsh_note_describe describe; /* NULL: free */
    void *arg;
};

static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct note *notes;
static int notes_count;

/* Index of `arg`, or with `free` an unused one; -1: none. The lock is held. */
static int note_find(const void *arg, int free)
{
    for (int i = 0; i < notes_count; i++) {
        if (free ? !notes[i].describe : notes[i].describe && notes[i].arg == arg)
            return i;
    }
    return -1;
}

/* Make room; index of an unused one, -1: no memory. The lock is held. */
static int note_room(void)
{
    int at = notes_count, count = at ? 2 * at : NOTES_FIRST;
    struct note *made = realloc(notes, (size_t)count * sizeof *made);

    if (!made)
        return -1;
    memset(made + at, 0, (size_t)(count - at) * sizeof *made);
    notes = made;
    notes_count = count;
    return at;
}

int wsh_note_add(wsh_note_describe describe, void *arg)
{
    int at;

    pthread_mutex_lock(&notes_lock);
    at = note_find(NULL, 1);
    if (at < 0)
        at = note_room();
    if (at >= 0) {
        notes[at].describe = describe;
        notes[at].arg = arg;
    }
    pthread_mutex_unlock(&notes_lock);
    return at >= 0 ? 0 : -ENOMEM;
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
    for (int i = 0; i < notes_count; i++) {
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
