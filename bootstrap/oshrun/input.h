/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how oshrun's standard input reaches PE 0. */
#ifndef WSH_OSHRUN_INPUT_H
#define WSH_OSHRUN_INPUT_H

#include "bootstrap/oshrun/pollset.h"

#include <stdbool.h>

struct wsh_input {
    int fd; /* writing end of PE 0's pipe; -1: closed */
    bool ended, paused;
    char bytes[65536];
    size_t from, to;
    int in_index, out_index;
};

/* A pipe; *pe_fd is what PE 0 gets as standard input. 0 or -errno after one line. */
int wsh_input_open(struct wsh_input *input, int *pe_fd);

/* Each turn of the loop: _poll before waiting, _work after. */
void wsh_input_poll(struct wsh_input *input, struct wsh_pollset *set);
void wsh_input_work(struct wsh_input *input, const struct wsh_pollset *set);

/* In the background of a terminal: has to look again later whether it may read. */
bool wsh_input_paused(const struct wsh_input *input);
void wsh_input_close(struct wsh_input *input);

#endif
