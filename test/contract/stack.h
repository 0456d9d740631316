/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the relay transport above efa with libfabric's provider tcp and nvlink with a CUDA driver without a GPU: each
 * PE believes that the others are on other hosts. What the core does for it is done here: memory, ways, and progress of
 * all three.
 */
#ifndef WSH_TEST_CONTRACT_STACK_H
#define WSH_TEST_CONTRACT_STACK_H

#include "test/contract/group.h"

enum { EFA, NVLINK, RELAY, PARTS };

struct stack {
    struct wsh_tp base;
    int me, n;
    struct wsh_tp *tp[PARTS];
    struct wsh_tp_limits limits[PARTS];
    struct wsh_tctx *ctx[PARTS]; /* for the relay's own use */
    struct wsh_tp_under under;
    struct wsh_lmem *box, *own, *direct;
    struct wsh_rmem boxes[GROUP_MAX], device;
    struct wsh_rmem far[GROUP_MAX]; /* with stack_hmem: device memory as efa reaches it */
    bool met;                       /* the ways are there */
};

extern const bool stack_hmem; /* of the program: efa takes device memory too */
extern const struct wsh_tp_ops *stack_part[PARTS];
extern struct wsh_tp_ops stack_ops; /* all but what contexts do */

/* Ends the program where the parts are not there; call before the suite runs. */
void stack_find_parts(void);

#endif
