/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watch over threads of this PE that do not come back from the CUDA driver: a thread that does nothing else looks,
 * since all others may be in the driver, or wait for one that is. It watches the proxy too, and prints what kernels
 * report.
 */
#ifndef WSH_CUDA_WATCH_H
#define WSH_CUDA_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct wsh_cuda_stay;
struct wsh_job;

/* While a GPU is attached, where SHMEM_HANG_SECONDS is not 0. open: 0 or a logged error. */
int wsh_cuda_watch_open(struct wsh_job *job);
void wsh_cuda_watch_close(struct wsh_job *job);

/* "thread id 7 (the progress thread)", or "it" for thread `it`, "is in cuMemcpyAsync, which does not return …". */
void wsh_cuda_watch_text(const struct wsh_cuda_stay *stay, pid_t it, char *text, size_t size);

/* For a report of something else: the call that has lasted longest, after "; "; "" where none is long. */
void wsh_cuda_watch_also(char *text, size_t size);

/* May the caller say why the job ends? Once only: another thread may just be saying the same in its words. */
bool wsh_cuda_watch_may_end(void);

#endif
