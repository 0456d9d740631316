/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of settings: which there are, who may have written them, and their lines. */
#ifndef WSH_BASE_CONF_H
#define WSH_BASE_CONF_H

#include <stddef.h>

#define WSH_CONF_SITE "/etc/warpshmem.conf"
#define WSH_CONF_PATH_MAX 256 /* bytes of a file's path, with its end */

/* In the order in which they count. */
enum wsh_conf_place {
    WSH_CONF_NAMED, /* by WARPSHMEM_CONF; must be there */
    WSH_CONF_HOME,  /* ~/.config/warpshmem.conf */
    WSH_CONF_ETC,   /* WSH_CONF_SITE: root's */
    WSH_CONF_PLACES
};

/* NAME=value in a line of a file. */
struct wsh_conf_line {
    const char *name, *value; /* without blanks around; an empty value is the setting's default */
    const char *path;
    int number; /* of the line */
};

/* The i-th line of all files, in the order in which these count; NULL: no more. The first call reads them. */
const struct wsh_conf_line *wsh_conf_line(size_t i);

/* What is wrong with a file, in one line with the cure: nothing of any file then counts. NULL: nothing. */
const char *wsh_conf_fault(void);

/*
 * Reads these files instead, from now on; NULL: none. What was read before goes. For tests; others read once, those
 * that the environment leads to: with WARPSHMEM_CONF=none none, and in a set-user-ID program the site's alone.
 */
void wsh_conf_load(const char *const paths[WSH_CONF_PLACES]);

#endif
