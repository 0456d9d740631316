/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4, a keyed hash of 64 bits: without the key nobody can guess the hash of anything. */
#ifndef WSH_BASE_SIPHASH_H
#define WSH_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define WSH_SIPHASH_KEY 16 /* bytes of a key */

uint64_t wsh_siphash(const unsigned char key[WSH_SIPHASH_KEY], const void *bytes, size_t len);

#endif
