/* SPDX-License-Identifier: BSD-3-Clause */
/* The secret of a job, which only its PEs and its launcher know, the tags made of it, and random bytes. */
#ifndef WSH_BASE_SECRET_H
#define WSH_BASE_SECRET_H

#include "base/siphash.h"

#define WSH_SECRET_TEXT (2 * WSH_SIPHASH_KEY + 1) /* bytes of a secret as text, with its end */

/* Never printed, never on a command line. */
struct wsh_secret {
    unsigned char key[WSH_SIPHASH_KEY];
};

/* Bytes from the kernel's generator. 0 or a negative errno. */
int wsh_random_fill(void *bytes, size_t len);

/* As hexadecimal digits, and back. wsh_secret_parse: -EINVAL where `text` is not exactly that. */
void wsh_secret_print(const struct wsh_secret *secret, char text[WSH_SECRET_TEXT]);
int wsh_secret_parse(struct wsh_secret *secret, const char *text);

/* By what PE `target` knows a message of PE `source`; `generation` counts shmem_init. */
uint64_t wsh_secret_tag(const struct wsh_secret *secret, uint32_t source, uint32_t target,
                        uint32_t generation);

#endif
