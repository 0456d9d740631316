/* SPDX-License-Identifier: BSD-3-Clause */
/* The emulator's messages, each one line on standard error. */
#ifndef EMU_SAY_H
#define EMU_SAY_H

/* "efa-emulator: …" and a newline, in one write. */
void emu_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
