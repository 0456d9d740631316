/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of low latency with far peers: those of low.cu, with the code that far peers take. */
#define EP_LOW_FAR 1
#include "ep/device/low.cu"
