/* SPDX-License-Identifier: BSD-3-Clause */
/* Every process to every other one at once: the load under which NICs and policies differ. */
#include "perftest/fabric/row.h"

/* Each begins with its neighbour, so that not all write to the same target first. */
static long start_all(struct fab_net *net, enum fab_kind kind)
{
    long pieces = 0;

    for (int i = 1; i < net->boot.n; i++)
        pieces += fab_start(net, kind, (net->boot.me + i) % net->boot.n);
    return pieces;
}

static void all_write(struct fab_net *net, long count)
{
    for (long i = 0; i < count; i++) {
        start_all(net, FAB_WRITE);
        fab_finish(net);
    }
}

static void all_send(struct fab_net *net, long count)
{
    for (long i = 0; i < count; i++) {
        long pieces = start_all(net, FAB_SEND);

        fab_receive(net, pieces);
        fab_finish(net);
    }
}

static const struct fab_row rows[] = {
    {"write", "a WRITE to every other process, until all are complete", FAB_WRITE, FAB_ALL, FAB_LANDS_ALL, 1,
     all_write},
    {"message", "a SEND to and a RECV from every other process", FAB_SEND, FAB_ALL, FAB_LANDS_ALL, 1,
     all_send},
    {.name = NULL},
};

const struct fab_program fab_program = {
    .name = "all2all",
    .what = "all pairs at once through bare libfabric; GB/s and bus are those of one process's sends",
    .rows = rows,
    .defaults = {.begin = 8, .end = 1 << 20, .provider = ""},
};
