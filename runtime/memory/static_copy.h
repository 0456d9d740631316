/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies variables to a memory file and back: only pages with contents, so that untouched arrays cost nothing. */
#ifndef WSH_STATIC_COPY_H
#define WSH_STATIC_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes what is not zero in [begin, end), whole pages, to the file, from `off` on; the rest of it stays a hole. Puts
 * memory behind no page that has none. False: errno says why not.
 */
bool wsh_static_save(int fd, uintptr_t begin, uintptr_t end, size_t off);

/* Private memory of `len` bytes with the file's present contents, or MAP_FAILED. */
char *wsh_static_load(int fd, size_t len);

#endif
