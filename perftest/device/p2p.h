/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of row of p2p measures. */
#ifndef PERFTEST_DEVICE_P2P_H
#define PERFTEST_DEVICE_P2P_H

#include "perftest/device/rows.h"

/* One kernel each; what it does stands in p2p_kinds. */
enum p2p_kind {
    P2P_PUT,
    P2P_PUT_SAME,
    P2P_GET,
    P2P_P,
    P2P_G,
    P2P_FETCH_INC,
    P2P_COMPARE_SWAP,
    P2P_SWAP,
    P2P_INC,
    P2P_PUT_BULK,
    P2P_GET_BULK,
    P2P_PUT_BW,
    P2P_PUT_SAME_BW,
    P2P_GET_BW,
    P2P_PUT_BIBW,
    P2P_GET_BIBW,
    P2P_PUT_BULK_BW,
    P2P_GET_BULK_BW,
    P2P_STORE_BW,
    P2P_PUT_RATE,
    P2P_P_RATE,
    P2P_PUT_LOCAL_RATE,
    P2P_PUT_SHARED_RATE,
    P2P_PUT_CONSTANT_RATE,
    P2P_PUT_FEW_RATE,
    P2P_IPUT_FEW_RATE,
    P2P_G_RATE,
    P2P_FETCH_ADD_RATE,
    P2P_INC_RATE,
    P2P_PP_SIGNAL,
    P2P_PP_PUT_SIGNAL,
    P2P_PP_P,
    P2P_PP_PUT,
    P2P_PP_PUT_FENCE_P,
    P2P_PP_ATOMIC,
    P2P_PP_PUT_ATOMIC,
    P2P_PUT_MISALIGNED,
    P2P_GET_MISALIGNED,
    P2P_PUT_BW_MISALIGNED,
    P2P_GET_BW_MISALIGNED,
    P2P_PUT_LOADED,
    P2P_P_LOADED,
    P2P_PP_SIGNAL_LOADED,
    P2P_KINDS
};

/* Whose memory holds a copy of the other's source afterwards. */
enum p2p_data { P2P_NO_DATA, P2P_AT_TARGET, P2P_AT_ORIGIN };

/* Flags of a kind, beside those of rows.h. */
enum {
    P2P_BOTH = 16,        /* the kernel runs on both PEs */
    P2P_EXTENSION = 32,   /* of warpshmem alone: the kernel gives shared memory as scratch */
    P2P_SAME = 64,        /* the same source in every iteration, which an L1 may hold */
    P2P_READS_PEER = 128, /* without data to check */
    P2P_LOADED = 256      /* all blocks but one put pieces meanwhile */
};

extern const struct dev_kind p2p_kinds[P2P_KINDS];

#endif
