/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of kernels whose blocks are on their GPUs at the same time: on every PE or, where one cannot, on none. */
#ifndef WSH_DEVICE_LAUNCH_HOST_H
#define WSH_DEVICE_LAUNCH_HOST_H

struct wsh_device_launch;
struct wsh_job;

/* Contracts of device/api/launch.cuh. Both attach. 0 or a negative errno after a line, launch: on every PE. */
int wsh_launch(struct wsh_job *job, const struct wsh_device_launch *launch);
int wsh_launch_fits(struct wsh_job *job, const struct wsh_device_launch *launch, int *gridsize);

#endif
