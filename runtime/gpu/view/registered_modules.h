/* SPDX-License-Identifier: BSD-3-Clause */
/* The translation units with device code of this process, and which of them hold the present device state. */
#ifndef WSH_REGISTERED_MODULES_H
#define WSH_REGISTERED_MODULES_H

#include "device/view/view.h"
#include "base/cuda/cuda.h"

/* Do all modules fit this library? 0, or -EPROTO after one line with the module's name and both versions. */
int wsh_registered_modules_check(void);

/*
 * CUfunction of the kernel at a module's address for it, by the runtime of the module that knows it. 0, or not found.
 */
int wsh_registered_modules_find(const void *kernel, void **function);

/*
 * Gives `state` to all modules that do not have it, and from now on to those that register later, with `gpu` current;
 * NULL takes the device state from all and gives it to nobody. `state` and `gpu` stay valid until the call with NULL.
 */
void wsh_registered_modules_fill(const struct wsh_device *state, const struct wsh_gpu *gpu);

#endif
