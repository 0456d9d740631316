// SPDX-License-Identifier: BSD-3-Clause
// The second translation unit of the program.
#define UNIT_NAME "unit b"
#include "view_unit.cuh"

uint64_t other_sees()
{
    return unit_sees();
}
