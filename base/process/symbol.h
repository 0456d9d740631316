/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the program's variables and routines, for messages. */
#ifndef WSH_SYMBOL_H
#define WSH_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes " (box)" or " (box + 8 bytes)" where `addr` lies in a global or static variable of the executable that its
 * table of symbols names, else the empty text. Reads the file: for what is slow already.
 */
void wsh_symbol_name(const void *addr, char *text, size_t size);

struct wsh_symbol {
    uint64_t address, within; /* as the file has it; bytes from the routine's begin */
    char name[96];            /* "" where the tables have no routine there */
};

/* What lies `off` bytes from the begin of an ELF file. False: no code. Async-signal-safe. */
bool wsh_symbol_at(const char *file, uint64_t off, struct wsh_symbol *symbol);

#endif
