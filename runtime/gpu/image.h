/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of libraries on top of this one: their loading, and launches on streams. */
#ifndef WSH_DEVICE_IMAGE_HOST_H
#define WSH_DEVICE_IMAGE_HOST_H

struct wsh_device_image;
struct wsh_device_start;
struct wsh_job;

/* Contracts of device/view/image.h. */
int wsh_image_start(struct wsh_job *job, const struct wsh_device_image *image,
                    const struct wsh_device_start *start);
int wsh_stream_wait(struct wsh_job *job, const char *routine, void *stream);

/*
 * CUfunction of a kernel that the program names as its CUDA runtime does, or by a driver's handle. 0, the status of the
 * runtime, or -1 after a line.
 */
int wsh_kernel_find(const void *kernel, void **function);

#endif
