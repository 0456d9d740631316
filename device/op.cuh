/* SPDX-License-Identifier: BSD-3-Clause */
/* The codes of the operations of reductions in device code. */
#ifndef WSH_DEVICE_OP_CUH
#define WSH_DEVICE_OP_CUH

enum wsh_dev_op { WSH_SUM, WSH_PROD, WSH_MIN, WSH_MAX, WSH_AND, WSH_OR, WSH_XOR };

#endif
