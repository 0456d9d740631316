/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Staging above a staging context (efa, or the test's own) and nvlink with a CUDA driver without a GPU: each PE
 * believes that the others are on other hosts. What the core does for it is done here: memory, targets, and progress of
 * all three.
 */
#ifndef WSH_TEST_CONTRACT_STACK_H
#define WSH_TEST_CONTRACT_STACK_H

#include "runtime/gpu/stage/stage.h"
#include "test/contract/group.h"

enum { EFA, NVLINK, STAGE, PARTS }; /* EFA: the staging context */

struct stack {
    struct wsh_tp base;
    int me, n;
    struct wsh_tp *tp[PARTS];
    struct wsh_tp_limits limits[PARTS];
    struct wsh_tctx *ctx[PARTS]; /* for what staging sends and copies */
    struct wsh_stage_context context;
    struct wsh_lmem *box, *own, *direct;
    struct wsh_rmem boxes[GROUP_MAX], device, here;
    struct wsh_rmem by_efa[GROUP_MAX]; /* with stack_hmem: device memory as efa reaches it */
    bool met;                          /* the targets are there */
};

/* Of the program: efa takes device memory too; the staging context, NULL: efa. */
extern const bool stack_hmem;
extern const struct wsh_tp_ops *const stack_context;
extern const struct wsh_tp_ops *stack_part[PARTS];
extern struct wsh_tp_ops stack_ops; /* all but what contexts do */

/* Ends the program where the parts are not there; call before the suite runs. */
void stack_find_parts(void);
/* What contexts do is staging's own. */
void stack_alone(void);

#endif
