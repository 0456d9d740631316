/* SPDX-License-Identifier: BSD-3-Clause */
/* A library of NVIDIA's in this process that has the names of nvshmem/. */
#ifndef WSH_BASE_FOREIGN_H
#define WSH_BASE_FOREIGN_H

/*
 * Warns where NVIDIA's libnvshmem_host is loaded, as a Python package may have done: under that name the loader gives
 * programs and packages that one, whichever they were linked with.
 */
void wsh_foreign_note(void);

#endif
