/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the library is built without nvcc: no kernels. */
#include "ep/ep.h"

const struct ep_device_calls *const ep_device_calls = NULL;
