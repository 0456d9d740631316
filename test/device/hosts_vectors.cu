/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_vectors.cu where members are on several hosts.
 * paths: gpu1:2 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2
 * timeout: 600
 */
#include "test/device/coll_vectors.cu"
