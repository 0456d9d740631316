/* SPDX-License-Identifier: BSD-3-Clause */
/* How a signal is updated: numbers that other languages have written into their bindings. */
#ifndef WSH_NV_COMMON_TRANSPORT_H
#define WSH_NV_COMMON_TRANSPORT_H

typedef enum { NVSHMEM_SIGNAL_SET = 9, NVSHMEM_SIGNAL_ADD = 10 } nvshmemx_signal_op_t;

#endif
