/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the heaps of a run device memory that the CPU sees too: by a driver without a GPU, whose device
 * memory is a memfd, through the transport's own exchange; or, on a real GPU, as host memory that every PE pins.
 */
#ifndef WSH_TEST_GROUP_GPU_H
#define WSH_TEST_GROUP_GPU_H

#include "test/contract/group.h"

enum group_gpu { GROUP_NO_GPU, GROUP_FAKE_GPU, GROUP_REAL_GPU };

/* The GPU that PE `me` uses; NULL: there is none. Loads the driver. */
const struct wsh_gpu *group_gpu_open(int me);

/* In the order of the transport's own: registers the heap, reaches the others' (as their WSH_SEG_HEAP), undoes both. */
int group_gpu_register(struct group_pe *pe, int fd, void *blob, size_t *len);
int group_gpu_attach(struct group_pe *pe);
void group_gpu_release(struct group_pe *pe);

#endif
