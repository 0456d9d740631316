// SPDX-License-Identifier: BSD-3-Clause
// The separate cubin of the question `module`: a public and a private symbol, and a kernel that reads each.
#include <stdint.h>

static __constant__ uint64_t probe_module_private[8];

extern "C" {
__constant__ uint64_t probe_module_public[8];

__global__ void read_public(uint64_t *out)
{
    *out = probe_module_public[0];
}

__global__ void read_private(uint64_t *out)
{
    *out = probe_module_private[0];
}
}
