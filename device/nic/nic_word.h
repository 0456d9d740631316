/* SPDX-License-Identifier: BSD-3-Clause */
/* Words in which NICs count: only 31 bits count up, and begin anywhere. Read by C, C++ and CUDA. */
#ifndef WSH_DEVICE_NIC_WORD_H
#define WSH_DEVICE_NIC_WORD_H

#define WSH_NIC_WORD_MASK 0x7fffffffull
#define WSH_NIC_WORD_HALF 0x40000000ull /* counts within which the word has to be sampled once */

/*
 * The 64 bits of a count that a NIC's word showed as `raw`: `kept` is what the count was at a time from which it was
 * less than 2^30 counts to that of `raw`, before it or after it. So the two may be read in any order.
 */
#define WSH_NIC_WORD_EXTEND(kept, raw) \
    ((kept) + (((((raw) - (kept)) & WSH_NIC_WORD_MASK) ^ WSH_NIC_WORD_HALF) - WSH_NIC_WORD_HALF))

/* What was kept is renewed when it is so far behind: seldom, and long before it is too old. */
#define WSH_NIC_WORD_STALE ((uint64_t)1 << 28)

#endif
