/* SPDX-License-Identifier: BSD-3-Clause */
/* Words in which NICs count: only 31 bits count up, and begin anywhere. Read by C, C++ and CUDA. */
#ifndef WSH_DEVICE_NIC_WORD_H
#define WSH_DEVICE_NIC_WORD_H

#define WSH_NIC_WORD_MASK 0x7fffffffull

/*
 * The 64 bits of a count: `kept` is what it was at some time before the NIC's word was `raw`, less than 2^31 counts
 * ago. Never less than `kept`.
 */
#define WSH_NIC_WORD_EXTEND(kept, raw) ((kept) + (((raw) - (kept)) & WSH_NIC_WORD_MASK))

#endif
