/* SPDX-License-Identifier: BSD-3-Clause */
/* The atomic operations, by the numbers that the library, kernels and what they exchange have. Read by C, C++ and CUDA;
 * installed as shmem/base/amo_op.h. */
#ifndef WSH_BASE_AMO_OP_H
#define WSH_BASE_AMO_OP_H

enum wsh_amo_op {
    WSH_AMO_FETCH,
    WSH_AMO_SET,
    WSH_AMO_SWAP,
    WSH_AMO_CSWAP,
    WSH_AMO_ADD,
    WSH_AMO_AND,
    WSH_AMO_OR,
    WSH_AMO_XOR,
    WSH_AMO_OPS
};

#endif
