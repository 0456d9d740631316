/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the CUDA driver, loaded at run time: a machine without it is as good as any other. */
#ifndef WSH_BASE_CUDA_H
#define WSH_BASE_CUDA_H

#include <stddef.h>

/*
 * Loads the driver once. 0, -ENODEV (no driver or no GPU, no error) or -EIO (the driver does not start; logged at
 * info level).
 */
int wsh_cuda_open(void);

/* GPUs that this process may use; 0 before wsh_cuda_open succeeded. */
int wsh_cuda_count(void);

/* Name and PCI address ("0000:3b:00.0") of GPU `i`. 0 or -EIO. */
int wsh_cuda_describe(int i, char *name, size_t name_size, char *pci, size_t pci_size);

#endif
