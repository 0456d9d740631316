/* SPDX-License-Identifier: BSD-3-Clause */
/* What the PEs of a run share: memory mapped before they start. */
#ifndef WSH_TEST_GROUP_SHARED_H
#define WSH_TEST_GROUP_SHARED_H

#include "test/contract/group.h"

enum { SLOTS = 64 };

struct blob {
    size_t len;
    char bytes[WSH_TP_ADDRESS_MAX];
};

struct group {
    int n;
    bool raw;
    bool missing; /* the transport is not on this machine */
    unsigned arrived, generation;
    long slot[SLOTS];
    struct blob address[GROUP_MAX], mem[GROUP_MAX][WSH_SEGS];
    char *heap[GROUP_MAX], *data[GROUP_MAX];
    int heap_fd[GROUP_MAX], data_fd[GROUP_MAX];
    int hushed[GROUP_MAX]; /* memfd of its standard error, or -1 */
    char fault[GROUP_MAX][512];
    void (*body)(struct group_pe *pe);
};

#endif
