/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes of process 0 into the last one's memory, with and without immediate data, until their completion. */
#include "perftest/fabric/row.h"

static void writes(struct fab_net *net, enum fab_kind kind, long count, long window)
{
    long pieces = window * fab_pieces(net, kind);

    for (long i = 0; i < count; i++) {
        if (kind == FAB_WRITE_IMM)
            fab_credit_wait(net, pieces);
        for (long j = 0; j < window; j++)
            fab_start(net, kind, fab_peer(net));
        fab_finish(net);
    }
}

static void write_one(struct fab_net *net, long count)
{
    writes(net, FAB_WRITE, count, 1);
}

static void write_imm(struct fab_net *net, long count)
{
    writes(net, FAB_WRITE_IMM, count, 1);
}

static void write_window(struct fab_net *net, long count)
{
    writes(net, FAB_WRITE, count, net->window);
}

static void write_imm_window(struct fab_net *net, long count)
{
    writes(net, FAB_WRITE_IMM, count, net->window);
}

static const struct fab_row rows[] = {
    {"write", "WRITE until it is complete", FAB_WRITE, FAB_FIRST, FAB_LANDS_LAST, 1, write_one},
    {"write_imm", "WRITE + immediate until it is complete", FAB_WRITE_IMM, FAB_FIRST, FAB_LANDS_LAST, 1,
     write_imm},
    {"write_window", "windows of WRITEs", FAB_WRITE, FAB_FIRST, FAB_LANDS_LAST, 0, write_window},
    {"write_imm_window", "windows of WRITEs + immediate", FAB_WRITE_IMM, FAB_FIRST, FAB_LANDS_LAST, 0,
     write_imm_window},
    {.name = NULL},
};

const struct fab_program fab_program = {
    .name = "write",
    .what = "writes through bare libfabric from process 0 to the last one",
    .rows = rows,
    .defaults = {.begin = 8, .end = 8 << 20, .window = 64, .provider = ""},
};
