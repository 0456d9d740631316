/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the program's variables, for messages. */
#ifndef WSH_SYMBOL_H
#define WSH_SYMBOL_H

#include <stddef.h>

/*
 * Writes " (box)" or " (box + 8 bytes)" where `addr` lies in a global or static variable of the executable that its
 * table of symbols names, else the empty text. Reads the file: for what is slow already.
 */
void wsh_symbol_name(const void *addr, char *text, size_t size);

#endif
