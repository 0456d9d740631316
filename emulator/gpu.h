/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU memory, as the CUDA driver reports it of a pointer where the process has loaded that driver. */
#ifndef EMU_GPU_H
#define EMU_GPU_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which GPU holds this memory, counted from 1; 0: none, as always without the driver. Asked at registration, by a
 * thread of the application, whose context the driver may want to see.
 */
unsigned emu_gpu_of(uint64_t addr);
/* Between `data` and memory of that GPU. Returns 0 or -EFAULT. */
int emu_gpu_copy(unsigned gpu, uint64_t addr, void *data, uint32_t len, bool into_gpu);

#endif
