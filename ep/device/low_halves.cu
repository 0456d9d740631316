/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The combine of low latency among near PEs in two halves: that of low.cu, whose sending half brings sums where weights
 * are there. Apart, for what it keeps in registers a call of both halves needs.
 */
#define EP_LOW_HALVES 1
#include "ep/device/low.cu"
