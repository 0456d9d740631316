/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of 16 bits to and from float, for the host's atomics on them; every processor computes them so. */
#include "nvshmem/half.h"

#include <math.h>
#include <string.h>

enum { FRACTION = 10, BIAS = 15, LARGEST = 31 };

float wsh_half_to_float(uint16_t bits)
{
    int exponent = bits >> FRACTION & LARGEST, fraction = bits & ((1 << FRACTION) - 1);
    float value;

    if (exponent == LARGEST)
        value = fraction ? NAN : INFINITY;
    else if (exponent)
        value = ldexpf((float)(fraction | 1 << FRACTION), exponent - BIAS - FRACTION);
    else
        value = ldexpf((float)fraction, 1 - BIAS - FRACTION);
    return bits >> 15 ? -value : value;
}

/* In units of the last place of the result. */
uint16_t wsh_half_from_float(float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent, units;
    float rest;

    if (isnan(value))
        return 0x7fff;
    value = fabsf(value);
    if (value >= 65520.0f) /* the middle between the largest and what would be the next */
        return sign | 0x7c00;
    frexpf(value, &exponent);
    exponent = exponent - 1 < 1 - BIAS ? 1 - BIAS : exponent - 1;
    rest = ldexpf(value, FRACTION - exponent);
    units = (int)rest;
    rest -= (float)units;
    units += rest > 0.5f || (rest == 0.5f && units & 1);
    /* A fraction that was rounded up to the next power of two carries into the exponent; without one it has none. */
    return sign | (uint16_t)(units < 1 << FRACTION ? units : ((exponent + BIAS - 1) << FRACTION) + units);
}
