/* SPDX-License-Identifier: BSD-3-Clause */
/* What libraries on top of this one add to reports of hangs. */
#ifndef WSH_NOTES_H
#define WSH_NOTES_H

#include <stddef.h>

typedef void (*wsh_note_describe)(void *arg, char *text, size_t size);

/* Any thread. add: 0, or -ENOMEM. remove: 0, or -ENOENT; when it returns, no call with `arg` is under way. */
int wsh_note_add(wsh_note_describe describe, void *arg);
int wsh_note_remove(void *arg);

/* Logs a line for each that has something to say. */
void wsh_notes_log(void);

#endif
