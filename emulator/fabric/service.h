/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service thread of a process: it copies payload for peers that cannot reach this process's memory, and delivers
 * completion events to their channels. It never waits for another process.
 */
#ifndef EMU_SERVICE_H
#define EMU_SERVICE_H

void *emu_service(void *unused);

/* A detached thread that takes no signal; 0 or negative errno. */
int emu_thread_start(void *(*body)(void *));

#endif
