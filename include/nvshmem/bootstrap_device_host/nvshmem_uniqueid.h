/* SPDX-License-Identifier: BSD-3-Clause */
/* Unique ids: what one process makes and all give to nvshmemx_init_attr. */
#ifndef WSH_NV_UNIQUEID_H
#define WSH_NV_UNIQUEID_H

#ifndef __CUDACC_RTC__
#include <stddef.h>
#endif

typedef struct {
    int version;
    char internal[124];
} nvshmemx_uniqueid_v1;

typedef nvshmemx_uniqueid_v1 nvshmemx_uniqueid_t;

typedef struct {
    int version;
    nvshmemx_uniqueid_v1 *id;
    int myrank;
    int nranks;
} nvshmemx_uniqueid_args_v1;

typedef nvshmemx_uniqueid_args_v1 nvshmemx_uniqueid_args_t;

#define NVSHMEMX_UNIQUEID_INITIALIZER                   \
    {                                                   \
        (int)((1 << 16) + sizeof(nvshmemx_uniqueid_t)), \
        {                                               \
            0                                           \
        }                                               \
    }
#define NVSHMEMX_UNIQUEID_ARGS_INITIALIZER                                \
    {                                                                     \
        (int)((1 << 16) + sizeof(nvshmemx_uniqueid_args_t)), NULL, -1, -1 \
    }

#endif
