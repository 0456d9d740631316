/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of low latency among near PEs that go on without PEs: those of low.cu, with the code for that. */
#define EP_LOW_MASKS 1
#include "ep/device/low.cu"
