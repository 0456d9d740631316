/* SPDX-License-Identifier: BSD-3-Clause */
/* What the PEs write, as whole lines of oshrun's output or in files. */
#ifndef WSH_OSHRUN_OUTPUT_H
#define WSH_OSHRUN_OUTPUT_H

#include "bootstrap/oshrun/args.h"
#include "bootstrap/oshrun/io.h"

struct wsh_output;

/* Prepares for args->n_pes PEs; opens the files of --output-filename. NULL after one line. */
struct wsh_output *wsh_output_open(const struct wsh_args *args);

/* Two pipes for a PE: fds[0] and fds[1] are what it gets as standard output and error. 0 or -errno after a line. */
int wsh_output_pipes(struct wsh_output *output, int pe, int fds[2]);

/* Each turn of the loop: _poll before waiting, _work after. */
void wsh_output_poll(struct wsh_output *output, struct wsh_pollset *set);
void wsh_output_work(struct wsh_output *output, const struct wsh_pollset *set);

/*
 * Takes what one PE has written up to now, and writes out all that can be at once: before a line about that PE. Waits
 * for nobody.
 */
void wsh_output_take(struct wsh_output *output, int pe);

/* When all PEs have ended: takes what is left in the pipes, with a last line that has no end; waits for nobody. */
void wsh_output_drain(struct wsh_output *output);

/* Something is still to be written (wsh_output_work does it). */
bool wsh_output_pending(const struct wsh_output *output);

/* false: something of it could not be written where it was to go, which a line has said. */
bool wsh_output_close(struct wsh_output *output);

#endif
