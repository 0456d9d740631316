/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that are meant as settings and are none. */
#ifndef WSH_BASE_MISSPELT_H
#define WSH_BASE_MISSPELT_H

#include <stdbool.h>
#include <stddef.h>

/* A name that looks like a setting's and is none. */
struct wsh_misspelt {
    const char *name; /* not ended: of `length` letters */
    int length;
    const char *meant; /* the setting that is nearly called so, or NULL */
    const char *path;  /* of the file that has it, and the number of the line; NULL: the environment */
    int number;
};

/*
 * The next variable of the environment that begins as settings do and is none, or name in a file of settings: `*at`, 0
 * at first, moves behind it. False: no more. Of NVSHMEM's variables only those are found that are nearly one which is
 * known here.
 */
bool wsh_env_misspelt(size_t *at, struct wsh_misspelt *found);

#endif
