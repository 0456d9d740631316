/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of libnvshmem_device.a: the templates of library.cuh for one scope, WSH_LIBRARY_SCOPE. */
#include <nvshmem.h>
