/* SPDX-License-Identifier: BSD-3-Clause */
/* A library of NVIDIA's in this process that has the names of nvshmem/. */
#ifndef WSH_BASE_FOREIGN_H
#define WSH_BASE_FOREIGN_H

#include <stdbool.h>

/*
 * With `warn` a line where an object of this process has bound a routine of NVSHMEM's name to NVIDIA's libnvshmem_host:
 * under that name the loader gives programs and packages the library that is loaded first, whichever they were linked
 * with. At SHMEM_DEBUG=info one where it is only loaded, as torch does.
 */
void wsh_foreign_note(bool warn);

#endif
