/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between process 0 and the last one: SEND and RECV in turn, at once, and streams in either direction. */
#include "perftest/fabric/row.h"

static void pingpong(struct fab_net *net, long count)
{
    for (long i = 0; i < count; i++) {
        int pieces = fab_pieces(net, FAB_SEND);

        if (net->boot.me == 0)
            fab_start(net, FAB_SEND, fab_peer(net));
        fab_receive(net, pieces);
        if (net->boot.me != 0)
            fab_start(net, FAB_SEND, fab_peer(net));
        fab_finish(net);
    }
}

static void exchange(struct fab_net *net, long count)
{
    for (long i = 0; i < count; i++) {
        int pieces = fab_start(net, FAB_SEND, fab_peer(net));

        fab_receive(net, pieces);
        fab_finish(net);
    }
}

/* The receiver's answer to a window says that its receives are posted again. */
static void stream(struct fab_net *net, long count, bool sends)
{
    long pieces = net->window * fab_pieces(net, FAB_SEND);

    for (long i = 0; i < count; i++) {
        for (long j = 0; sends && j < net->window; j++)
            fab_start(net, FAB_SEND, fab_peer(net));
        fab_receive(net, sends ? 1 : pieces);
        if (!sends)
            fab_answer(net, fab_peer(net));
        fab_finish(net);
    }
}

static void stream_to_last(struct fab_net *net, long count)
{
    stream(net, count, net->boot.me == 0);
}

static void stream_to_first(struct fab_net *net, long count)
{
    stream(net, count, net->boot.me != 0);
}

static const struct fab_row rows[] = {
    {"pingpong", "half a round trip", FAB_SEND, FAB_PAIR, FAB_LANDS_PAIR, 2, pingpong},
    {"exchange", "SEND then RECV on both sides at once", FAB_SEND, FAB_PAIR, FAB_LANDS_PAIR, 1, exchange},
    {"stream", "windows of SENDs from process 0, each answered", FAB_SEND, FAB_PAIR, FAB_LANDS_LAST, 0,
     stream_to_last},
    {"stream_back", "the same to process 0", FAB_SEND, FAB_PAIR, FAB_LANDS_FIRST, 0, stream_to_first},
    {.name = NULL},
};

const struct fab_program fab_program = {
    .name = "sendrecv",
    .what = "messages through bare libfabric between process 0 and the last one",
    .rows = rows,
    .defaults = {.begin = 8, .end = 8 << 20, .window = 64, .provider = ""},
};
