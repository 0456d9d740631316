/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program's translation unit passes to the library about a kernel that all PEs launch together. The module
 * looks the kernel up: only the CUDA runtime that it is linked with knows it by its name in C++.
 */
#ifndef WSH_DEVICE_LAUNCH_H
#define WSH_DEVICE_LAUNCH_H

#include <stddef.h>

struct wsh_device_launch {
    const char *routine; /* for messages */
    const void *kernel;
    /* CUfunction of the kernel, on the current device: 0, cudaError_t, or -1 after a line */
    int (*find)(const void *kernel, void **function);
    unsigned grid[3], block[3]; /* blocks and threads; grid[0] = 0: as many blocks as fit */
    size_t shared;              /* dynamic shared memory of a block, in bytes */
    void **args;
    void *stream; /* cudaStream_t */
    /* Starts it with this grid where the program configures more: 0 or cudaError_t. NULL: the library does. */
    int (*start)(const struct wsh_device_launch *launch, const unsigned grid[3]);
    const void *config; /* for `start` */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Exported by the library; contracts in launch.cuh. 0 or 1 after a line. gridsize: of those that fit. */
int wsh_device_launch(const struct wsh_device_launch *launch);
int wsh_device_launch_fits(const struct wsh_device_launch *launch, int *gridsize);

/* Such a `find` of kernels of any module of the program, and of handles of the driver. */
int wsh_device_find(const void *kernel, void **function);

/* Whether the team has members on several hosts; an invalid one has none. */
int wsh_device_spans_hosts(void *team);

/*
 * A put on a stream by the driver, whose copy engine needs no kernel: 0 or the driver's status; -1 where it is one for
 * a kernel, since an array is not device memory of the job, or `pe` is out of the GPU's reach.
 */
int wsh_device_copy(void *dest, const void *source, size_t len, int pe, void *stream);

/* A call on a stream begins; NULL: the one that began last ends. Does nothing where no tool looks at NVTX ranges. */
void wsh_device_range(const char *routine);

#ifdef __cplusplus
}
#endif

#endif
