/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory between the ranges of variables: made one with them for as long as a network wants that. */
#ifndef WSH_STATIC_GAPS_H
#define WSH_STATIC_GAPS_H

#include "runtime/memory/static_image.h"

struct wsh_static_gaps {
    unsigned n; /* that are filled now */
    struct wsh_static_gap {
        uintptr_t begin, end;
        bool loaded; /* part of the program; else nothing was there */
    } gap[2 * WSH_STATIC_RANGES];
};

/*
 * Makes all of them writable memory of the file behind the image's data, whose first byte is that of the file, with
 * their contents. 0 or -errno and the address that it concerns.
 */
int wsh_static_gaps_fill(struct wsh_static_gaps *gaps, const struct wsh_static_image *image, int fd,
                         uintptr_t *where);
void wsh_static_gaps_protect(const struct wsh_static_gaps *gaps);
/* Gives them private memory again, or none. */
void wsh_static_gaps_restore(struct wsh_static_gaps *gaps);

#endif
