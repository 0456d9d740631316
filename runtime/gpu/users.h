/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes use a GPU, those of other jobs and users too: each holds a lock on bytes of the GPU's file in sysfs
 * while it uses it. The kernel drops the lock when the process ends, however it ends, so that nothing stays behind.
 */
#ifndef WSH_GPU_USERS_H
#define WSH_GPU_USERS_H

struct wsh_gpu_users;
struct wsh_job;

/* From now on this process counts. NULL where the machine shows no such file: others are not known then. */
struct wsh_gpu_users *wsh_gpu_users_open(const char *file);
void wsh_gpu_users_close(struct wsh_gpu_users *users);

/*
 * The other processes. `least`: the smallest number of PEs among which one of them has divided the GPU, 0 where none
 * has yet.
 */
int wsh_gpu_users_count(const struct wsh_gpu_users *users, int *least);

/* Tells the others that this process has taken a part of 1 / n; the largest part counts. */
void wsh_gpu_users_divide(struct wsh_gpu_users *users, int n);

/* The lock of this process on its GPU, from attach to detach. */
void wsh_gpu_sharers_open(struct wsh_job *job);
void wsh_gpu_sharers_close(struct wsh_job *job);

/*
 * Among how many PEs this PE's GPU is divided now: at least those of the job and SHMEM_GPU_PES, and under MPS all
 * processes that use it.
 */
int wsh_gpu_sharers(const struct wsh_job *job);

/* As wsh_gpu_sharers, for blocks that will be resident at once; warns where others have divided it among fewer. */
int wsh_gpu_sharers_divide(struct wsh_job *job);

#endif
