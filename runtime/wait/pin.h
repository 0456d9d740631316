/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads of the library that serve NICs run. */
#ifndef WSH_PIN_H
#define WSH_PIN_H

#include <pthread.h>
#include <stdbool.h>

struct wsh_job;

/*
 * Binds a thread to processors near the NICs (which are near the GPU), among those that the calling thread may use,
 * since the new thread has inherited these; logs which. A program that restricts its main thread has its reasons: only
 * with `narrow` is the thread restricted further. `what`: "the progress thread".
 */
void wsh_pin_thread(const struct wsh_job *job, pthread_t thread, const char *what, bool narrow);

#endif
