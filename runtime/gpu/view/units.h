/* SPDX-License-Identifier: BSD-3-Clause */
/* The translation units with device code of this process, and which of them hold the present view. */
#ifndef WSH_DEVICE_UNITS_H
#define WSH_DEVICE_UNITS_H

#include "device/view/view.h"
#include "base/cuda/cuda.h"

/* Do all units fit this library? 0, or -EPROTO after one line with the unit's name and both versions. */
int wsh_units_check(void);

/* CUfunction of the kernel at a unit's address for it, by the runtime of the unit that knows it. 0, or not found. */
int wsh_units_find(const void *kernel, void **function);

/*
 * Gives `view` to all units that do not have it, and from now on to those that register later, with `gpu` current;
 * NULL takes the view from all and gives it to nobody. `view` and `gpu` stay valid until the call with NULL.
 */
void wsh_units_fill(const struct wsh_device *view, const struct wsh_gpu *gpu);

#endif
