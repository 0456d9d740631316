/* SPDX-License-Identifier: BSD-3-Clause */
/* IEEE 754 numbers of 16 bits, as their bits. */
#ifndef WSH_NVSHMEM_HALF_H
#define WSH_NVSHMEM_HALF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

float wsh_half_to_float(uint16_t bits);

/* The nearest, of two the even one; beyond the largest infinity; NaN stays one. */
uint16_t wsh_half_from_float(float value);

#ifdef __cplusplus
}
#endif

#endif
