/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches for threads of this PE that do not return from the CUDA driver. A thread of its own does this, since all
 * others may be in the driver or wait for one that is. It also watches the proxy, and prints errors that kernels
 * report, and tells kernels who has failed.
 */
#ifndef WSH_CUDA_WATCH_H
#define WSH_CUDA_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct wsh_cuda_stay;
struct wsh_job;

/* While a GPU is attached, where SHMEM_HANG_SECONDS is not 0 or PEs may fail. open: 0 or a logged error. */
int wsh_cuda_watch_open(struct wsh_job *job);
void wsh_cuda_watch_close(struct wsh_job *job);

/* "thread id 7 (the progress thread)", or "it" for thread `it`, "is in cuMemcpyAsync, which does not return …". */
void wsh_cuda_watch_text(const struct wsh_cuda_stay *stay, pid_t it, char *text, size_t size);

/* For a report of something else: the call that has lasted longest, after "; "; "" where none is long. */
void wsh_cuda_watch_also(char *text, size_t size);

/* May the caller print why the job ends? True once only: another thread may be printing the same cause. */
bool wsh_cuda_watch_may_end(void);

#endif
