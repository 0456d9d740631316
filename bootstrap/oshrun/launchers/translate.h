/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun's options as srun, prterun and mpirun spell them. */
#ifndef WSH_OSHRUN_TRANSLATE_H
#define WSH_OSHRUN_TRANSLATE_H

#include "bootstrap/oshrun/args.h"
#include "bootstrap/oshrun/launchers/delegate.h"

#include <stddef.h>

enum wsh_launcher { WSH_SRUN, WSH_PRTERUN, WSH_MPIRUN };

/* A command: malloc'd words, NULL-terminated. */
struct wsh_words {
    char **word;
    size_t n;
};

/*
 * The whole command, `path` first and the program with its arguments last. 0, or OSHRUN_USAGE after one line that names
 * an option that this launcher lacks. Free with wsh_words_free in any case.
 */
int wsh_translate(enum wsh_launcher launcher, const char *path, const struct wsh_args *args,
                  const struct wsh_hosts *hosts, struct wsh_words *words);
void wsh_words_free(struct wsh_words *words);

#endif
