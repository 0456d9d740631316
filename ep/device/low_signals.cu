/* SPDX-License-Identifier: BSD-3-Clause */
/* The combine of low latency among near PEs whose rows wait for signals: that of low.cu, with the code for it. */
#define EP_LOW_SIGNALS 1
#include "ep/device/low.cu"
