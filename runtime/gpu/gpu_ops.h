/* SPDX-License-Identifier: BSD-3-Clause */
/* The table by which the core sees this folder. */
#ifndef WSH_GPU_OPS_H
#define WSH_GPU_OPS_H

#include "runtime/device_ops.h"

/* The core's from the first attach on; wsh_device_close sets the one of a job without a GPU again. */
void wsh_gpu_ops_set(void);

#endif
