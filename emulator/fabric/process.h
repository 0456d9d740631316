/* SPDX-License-Identifier: BSD-3-Clause */
/* A test whether a process lives, by its descriptor or by its number and start time. */
#ifndef EMU_PROCESS_H
#define EMU_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Start time in the kernel's unit; 0 if there is no such process, or it is a zombie. */
#define EMU_START_UNKNOWN UINT64_MAX /* it could not be read, as where descriptors have run out */
uint64_t emu_process_start_time(int pid);
/* A descriptor that polls readable when the process ends; -1 where the kernel has none. */
int emu_process_open(int pid);
/* pidfd may be -1. */
bool emu_process_alive(int pid, int pidfd, uint64_t start_time);

#endif
