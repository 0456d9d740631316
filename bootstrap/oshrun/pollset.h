/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows which descriptors oshrun waits for in the present turn of its loop. */
#ifndef WSH_OSHRUN_POLLSET_H
#define WSH_OSHRUN_POLLSET_H

#include <poll.h>
#include <stddef.h>

struct wsh_pollset {
    struct pollfd *fds;
    size_t n, cap;
};

/* Forgets all descriptors; those of the next turn are added again. */
void wsh_pollset_clear(struct wsh_pollset *set);
void wsh_pollset_free(struct wsh_pollset *set);

/* Adds fd; returns its index for wsh_pollset_ready, or -1 (never ready) when memory is short. */
int wsh_pollset_add(struct wsh_pollset *set, int fd, short events);

/* What poll found for an index; 0 for -1. */
short wsh_pollset_ready(const struct wsh_pollset *set, int index);

/* Waits until something is ready or `seconds` are over; negative = without end. */
void wsh_pollset_wait(struct wsh_pollset *set, double seconds);

/* Seconds of the monotonic clock. */
double wsh_now(void);

#endif
