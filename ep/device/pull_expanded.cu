/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of high throughput in one host that expand rows: those of pull.cu, with the code that this takes. */
#define EP_EXPANDS 1
#include "ep/device/pull.cu"
