/* SPDX-License-Identifier: BSD-3-Clause */
/* libnvshmem_device.bc: the functions of names.cuh as LLVM bitcode, by clang alone. */
#include "freestanding.cuh"
#include "names.cuh"
