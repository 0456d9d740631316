// SPDX-License-Identifier: BSD-3-Clause
// A shared library of the user's, opened while the program runs. PLUG_NAME says which runtime it has.
#define UNIT_NAME PLUG_NAME
#include "view_unit.cuh"

extern "C" uint64_t plug_sees()
{
    return unit_sees();
}
