/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of low latency with far peers that go on without PEs: those of low.cu, with the code for both. */
#define EP_LOW_FAR 1
#define EP_LOW_MASKS 1
#include "ep/device/low.cu"
