/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes survivors of a failure have the same memory allocated. */
#ifndef WSH_MEMORY_RESTORE_H
#define WSH_MEMORY_RESTORE_H

struct wsh_job;
struct wsh_team;

/*
 * Collective over the team: the host heap, and that of device memory, become what they are at PE `leader` (in the
 * world's numbers), one of those that have finished the fewest allocations. An allocation that not all have finished is
 * undone by that; no PE that has one more can have used it with all. 0; -EOWNERDEAD: another member has failed, and
 * some PEs may have it and others not.
 */
int wsh_heap_restore(struct wsh_job *job, struct wsh_team *team, int leader);

#endif
