/* SPDX-License-Identifier: BSD-3-Clause */
/* The dispatch of low latency among near PEs that packs rows as SHMEMX_EP_NVFP4: low.cu's, with the code for it. */
#define EP_LOW_NVFP4 1
#include "ep/device/low.cu"
