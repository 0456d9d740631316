/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of names.cuh by nvcc: a part of libnvshmem_device.a, and libnvshmem_device.ltoir. */
#include "names.cuh"
