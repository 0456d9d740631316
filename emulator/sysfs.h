/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder that stands for /sys, with what libfabric reads there of a device. */
#ifndef EMU_SYSFS_H
#define EMU_SYSFS_H

#include "emulator/settings.h"

/*
 * Makes <dir>/sys and sets SYSFS_PATH to it, unless the user has. Every process of a fabric may do so at once.
 * Returns 0 or negative errno, which has been reported.
 */
int emu_sysfs_make(const struct emu_settings *settings);
/* <dir>/sys/class/infiniband/<name> */
void emu_sysfs_device_path(const struct emu_settings *settings, const char *name, char *path, size_t size);

#endif
