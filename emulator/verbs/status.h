/* SPDX-License-Identifier: BSD-3-Clause */
/* The status codes of an EFA device's completions, which verbs calls the vendor error. */
#ifndef EMU_STATUS_H
#define EMU_STATUS_H

enum emu_status {
    EMU_OK = 0,
    EMU_FLUSHED = 1,
    EMU_QP_INTERNAL = 2,
    EMU_UNSUPPORTED_OP = 3,
    EMU_INVALID_AH = 4,
    EMU_INVALID_LKEY = 5,
    EMU_BAD_LENGTH = 6,
    EMU_REMOTE_BAD_ADDRESS = 7,
    EMU_REMOTE_ABORT = 8,
    EMU_REMOTE_BAD_QPN = 9,
    EMU_REMOTE_RNR = 10,
    EMU_REMOTE_BAD_LENGTH = 11,
    EMU_REMOTE_BAD_STATUS = 12,
    EMU_UNRESPONSIVE = 13,
    EMU_UNKNOWN_PEER = 14,
    EMU_UNREACHABLE = 15,
};

#endif
