/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric memory of the members of a team, which they allocate without the other PEs. Each PE notes which ranges of
 * its heaps teams have, beside the allocators, which are alike on all PEs and know nothing of them. They are the last
 * ones that all members have free; on the GPU with memory behind them. Allocations of all PEs keep away from them:
 * whoever has one in the way says so when they agree, and all look further on.
 */
#ifndef WSH_TEAM_MEMORY_H
#define WSH_TEAM_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct wsh_job;
struct wsh_team;

#define WSH_TEAM_MEMORY_ALIGN ((size_t)4096)

struct wsh_team_range {
    size_t off, len;
    bool device; /* of which heap */
};

struct wsh_team_memory {
    pthread_mutex_t lock; /* threads ask while one allocates */
    struct wsh_team_range *list;
    size_t n, room;
};

void wsh_team_memory_open(struct wsh_team_memory *memory);
void wsh_team_memory_close(struct wsh_team_memory *memory);

/*
 * Collective over the team, with equal arguments: more than no bytes of the host or the GPU, at a multiple of
 * WSH_TEAM_MEMORY_ALIGN. NULL on all members where it does not fit, after a line. Of fewer PEs than all: for these the
 * heaps' own routines are, which grow the heap.
 */
void *wsh_team_malloc(struct wsh_team *team, size_t size, bool device, const char *routine);

/* Collective over the team that has allocated it. -EINVAL (logged): no such memory; -EIO (logged). */
int wsh_team_free(struct wsh_team *team, void *ptr);

/* Whether it lies in such a range, and not in what all PEs have allocated. */
bool wsh_team_memory_has(struct wsh_job *job, const void *ptr);

/* The end of the last range of a team here that meets [off, off + len) of a heap; 0: there is none. */
size_t wsh_team_memory_end(struct wsh_job *job, bool device, size_t off, size_t len);

/* Collective over all PEs: the largest of these ends in *end. 0 or a final error (logged). */
int wsh_team_memory_end_anywhere(struct wsh_job *job, bool device, size_t off, size_t len, size_t *end,
                                 const char *routine);

/* Whether the `len` bytes at `off` of the host heap are of one such range. */
bool wsh_team_memory_is_live(struct wsh_job *job, size_t off, size_t len);

#endif
