/* SPDX-License-Identifier: BSD-3-Clause */
/* What Slurm, Kubernetes, containers and systemd limit: a line each. */
#ifndef WSH_INFO_LIMITS_H
#define WSH_INFO_LIMITS_H

#include "tools/info_line.h"

/* Where this process runs, limits of its cgroup and of its processes, /dev/shm, /tmp. Nonzero if jobs fail for one. */
int wsh_info_limits(const struct wsh_info *info);

/* RDMA devices and their files, locked memory, huge pages, calls that a profile refuses. Nonzero as above. */
int wsh_info_devices(const struct wsh_info *info);

#endif
