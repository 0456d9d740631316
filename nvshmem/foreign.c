/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What binaries call in which NVIDIA's library of device code is linked: it asks the host's library for structures
 * that this one has not. So that such a binary starts and then says what is wrong, the entries are here.
 */
#include "device/view/image.h"

#include <stddef.h>

#define FOREIGN(NAME)                                                                                       \
    __attribute__((visibility("default"))) int NAME(void);                                                  \
    int NAME(void)                                                                                          \
    {                                                                                                       \
        wsh_device_end(#NAME ": device code of NVIDIA's library is linked in this program; build it again " \
                             "with the headers and libraries of warpshmem's NVSHMEM_HOME");                 \
    }
FOREIGN(nvshmemid_init_status)
FOREIGN(nvshmemid_hostlib_init_attr)
FOREIGN(nvshmemid_hostlib_finalize)

/* A variable of theirs that such binaries read. */
__attribute__((visibility("default"))) int nvshmem_selected_device_transport;

/* By this libwarpshmem knows which library of the name it has to do with. */
__attribute__((visibility("default"))) const int nvshmemx_is_warpshmem = 1;
