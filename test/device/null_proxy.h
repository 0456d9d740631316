/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A proxy without a network, for tests: threads run real consumers, and what is asked is executed by nobody:
 * it is complete after a few looks, once its bytes were compared with what its address says they must be.
 */
#ifndef WSH_TEST_DEVICE_NULL_PROXY_H
#define WSH_TEST_DEVICE_NULL_PROXY_H

#include "device/proxy/ring.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NULL_PROXY_WRITERS = 16, NULL_PROXY_WORDS = 8, NULL_PROXY_SLOW = 200 };

/*
 * sym = writer << 32 | number of the put, counted from 1. A put's byte i is null_proxy_byte(sym, i); the stride of a
 * strided one is null_proxy_stride(sym), the signal of a zero-copy one ~sym at sym. Atomics and word puts: sym below
 * NULL_PROXY_WORDS is the index of a word.
 */
static inline unsigned char null_proxy_byte(uint64_t sym, uint64_t i)
{
    return (unsigned char)((sym ^ sym >> 32) * 31 + i * 7 + (i >> 8));
}

static inline uint64_t null_proxy_stride(uint64_t sym)
{
    return 16 + sym % 65521;
}

struct null_proxy;

/*
 * n_rings, a multiple of n_consumers, which take consecutive ones. `slow`: this writer's puts take NULL_PROXY_SLOW
 * looks to complete, or -1. NULL: it could not be started.
 */
struct null_proxy *null_proxy_open(unsigned n_rings, unsigned n_consumers, int slow);
/* From now on there is no room for this writer's puts; -1: for all there is. */
void null_proxy_block(struct null_proxy *proxy, int writer);
/* Ends once nothing is left to do. How many bytes or orders were wrong. */
uint64_t null_proxy_close(struct null_proxy *proxy);

struct wsh_ring *null_proxy_rings(struct null_proxy *proxy);
/* Puts of `writer` that are complete; word i. Acquire: partner is the thread's release. */
uint64_t null_proxy_completed(struct null_proxy *proxy, unsigned writer);
uint64_t null_proxy_word(struct null_proxy *proxy, unsigned i);

#ifdef __cplusplus
}
#endif

#endif
