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

/* The other processes. */
int wsh_gpu_users_count(const struct wsh_gpu_users *users);

/* The lock of this process on its GPU, from attach to detach. */
void wsh_gpu_sharers_open(struct wsh_job *job);
void wsh_gpu_sharers_close(struct wsh_job *job);

/*
 * How many PEs use this PE's GPU now: at least those of the job and SHMEM_GPU_PES, among which it is divided, and
 * under MPS all processes. Others come and go, so that PEs of a job may see another number: it is for messages alone.
 */
int wsh_gpu_sharers(const struct wsh_job *job);

#endif
