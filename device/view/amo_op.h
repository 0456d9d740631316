/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of the atomic operations in everything that kernels and the host exchange. Read by C, C++ and CUDA. */
#ifndef WSH_DEVICE_AMO_OP_H
#define WSH_DEVICE_AMO_OP_H

/* Those of enum wsh_amo_op (base/amo_op.h), which stays with the library: runtime/gpu/proxy/record.h compares. */
enum wsh_dev_amo {
    WSH_DEV_AMO_FETCH,
    WSH_DEV_AMO_SET,
    WSH_DEV_AMO_SWAP,
    WSH_DEV_AMO_CSWAP,
    WSH_DEV_AMO_ADD,
    WSH_DEV_AMO_AND,
    WSH_DEV_AMO_OR,
    WSH_DEV_AMO_XOR,
    WSH_DEV_AMO_OPS
};

#endif
