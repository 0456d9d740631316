/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_moves.cu where members are on several hosts, and on one as such a program has it.
 * paths: gpu1:2 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4
 * timeout: 600
 */
#define SHMEMX_TEAMS_OVER_HOSTS 1
#include "test/device/coll_moves.cu"
