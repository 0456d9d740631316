/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view_units.cu, built with a shared CUDA runtime.
 * paths: gpu:2,4 gpuipc:2 gpu1:2
 */
#include "test/device/view_units.cu"
