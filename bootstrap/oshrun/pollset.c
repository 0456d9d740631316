/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows which descriptors oshrun waits for in the present turn of its loop. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/pollset.h"

#include <stdlib.h>
#include <time.h>

void wsh_pollset_clear(struct wsh_pollset *set)
{
    set->n = 0;
}

void wsh_pollset_free(struct wsh_pollset *set)
{
    free(set->fds);
    *set = (struct wsh_pollset){0};
}

static int grow(struct wsh_pollset *set)
{
    size_t cap = set->cap ? 2 * set->cap : 64;
    struct pollfd *fds = realloc(set->fds, cap * sizeof *fds);

    if (!fds)
        return -1;
    set->fds = fds;
    set->cap = cap;
    return 0;
}

int wsh_pollset_add(struct wsh_pollset *set, int fd, short events)
{
    if (set->n == set->cap && grow(set))
        return -1;
    set->fds[set->n] = (struct pollfd){.fd = fd, .events = events};
    return (int)set->n++;
}

short wsh_pollset_ready(const struct wsh_pollset *set, int index)
{
    return index < 0 ? 0 : set->fds[index].revents;
}

void wsh_pollset_wait(struct wsh_pollset *set, double seconds)
{
    int ms = seconds < 0 ? -1 : (int)(1e3 * seconds) + 1;

    if (poll(set->fds, set->n, ms) < 0)
        for (size_t i = 0; i < set->n; i++)
            set->fds[i].revents = 0;
}

double wsh_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
