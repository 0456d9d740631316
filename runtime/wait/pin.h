/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads of the library that serve NICs run. */
#ifndef WSH_PIN_H
#define WSH_PIN_H

#include <pthread.h>
#include <stdbool.h>

struct wsh_job;

/*
 * Near the NICs, which were chosen near the GPU, on processors that the calling thread may use too, since the other has
 * inherited them; says where. A program that keeps its main thread on a few processors has its reasons: only with
 * `narrow` is the thread given less of them still. `what`: "the progress thread".
 */
void wsh_pin_thread(const struct wsh_job *job, pthread_t thread, const char *what, bool narrow);

#endif
