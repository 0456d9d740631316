/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured: messages and writes between process 0 and the last one, and all pairs at once. */
#include "perftest/fabric/row.h"

static void pingpong(struct fab_net *net, long count)
{
    for (long i = 0; i < count; i++) {
        int pieces = fab_pieces(net, net->kind);

        if (net->boot.me == 0)
            fab_start(net, net->kind, fab_peer(net));
        fab_receive(net, pieces);
        if (net->boot.me != 0)
            fab_start(net, net->kind, fab_peer(net));
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

static const struct fab_row sendrecv_rows[] = {
    {"pingpong", "half a round trip", FAB_SEND, FAB_PAIR, FAB_LANDS_PAIR, 2, pingpong},
    {"exchange", "SEND then RECV on both sides at once", FAB_SEND, FAB_PAIR, FAB_LANDS_PAIR, 1, exchange},
    {"stream", "windows of SENDs from process 0, each answered", FAB_SEND, FAB_PAIR, FAB_LANDS_LAST, 0,
     stream_to_last},
    {"stream_back", "the same to process 0", FAB_SEND, FAB_PAIR, FAB_LANDS_FIRST, 0, stream_to_first},
    {.name = NULL},
};

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

static const struct fab_row write_rows[] = {
    {"write", "WRITE until it is complete", FAB_WRITE, FAB_FIRST, FAB_LANDS_LAST, 1, write_one},
    {"write_imm", "WRITE + immediate until it is complete", FAB_WRITE_IMM, FAB_FIRST, FAB_LANDS_LAST, 1,
     write_imm},
    {"write_window", "windows of WRITEs", FAB_WRITE, FAB_FIRST, FAB_LANDS_LAST, 0, write_window},
    {"write_imm_window", "windows of WRITEs + immediate", FAB_WRITE_IMM, FAB_FIRST, FAB_LANDS_LAST, 0,
     write_imm_window},
    {.name = NULL},
};

static void reads(struct fab_net *net, long count)
{
    for (long i = 0; i < count; i++) {
        fab_start(net, FAB_READ, fab_peer(net));
        fab_finish(net);
    }
}

static void flags(struct fab_net *net, long count)
{
    for (long i = 0; i < count; i++) {
        net->flags++;
        if (net->boot.me == 0)
            fab_flag_send(net, fab_peer(net));
        fab_flag_wait(net, fab_peer(net));
        if (net->boot.me != 0)
            fab_flag_send(net, fab_peer(net));
    }
}

/* Beside what perftest/compare --limit judges the library's puts, gets, atomics and ping-pongs. */
static const struct fab_row limit_rows[] = {
    {"write", "WRITE until it is complete", FAB_WRITE, FAB_FIRST, FAB_LANDS_LAST, 1, write_one},
    {"write_window", "windows of WRITEs", FAB_WRITE, FAB_FIRST, FAB_LANDS_LAST, 0, write_window},
    {"read", "READ until it is complete", FAB_READ, FAB_FIRST, FAB_LANDS_FIRST, 1, reads},
    {"message", "half a round trip of a SEND", FAB_MESSAGE, FAB_PAIR, FAB_LANDS_PAIR, 2, pingpong},
    {"inject_write", "half a round trip of an injected WRITE", FAB_FLAG, FAB_PAIR, FAB_LANDS_PAIR, 2, flags,
     8},
    {.name = NULL},
};

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

static const struct fab_row all2all_rows[] = {
    {"write", "a WRITE to every other process, until all are complete", FAB_WRITE, FAB_ALL, FAB_LANDS_ALL, 1,
     all_write},
    {"message", "a SEND to and a RECV from every other process", FAB_SEND, FAB_ALL, FAB_LANDS_ALL, 1,
     all_send},
    {.name = NULL},
};

const struct fab_program fab_programs[] = {
    {.name = "sendrecv",
     .what = "messages through bare libfabric between process 0 and the last one",
     .rows = sendrecv_rows,
     .defaults = {.begin = 8, .end = 8 << 20, .window = 64, .provider = ""}},
    {.name = "write",
     .what = "writes through bare libfabric from process 0 to the last one",
     .rows = write_rows,
     .defaults = {.begin = 8, .end = 8 << 20, .window = 64, .provider = ""}},
    {.name = "limit",
     .what = "what the provider does between process 0 and the last one: the limit of the network's rows",
     .rows = limit_rows,
     .defaults = {.begin = 8, .end = 1 << 20, .window = 64, .provider = "tcp;ofi_rxm"},
     .alone = true},
    {.name = "all2all",
     .what = "all pairs at once through bare libfabric; GB/s and bus are those of one process's sends",
     .rows = all2all_rows,
     .defaults = {.begin = 8, .end = 1 << 20, .provider = ""}},
    {.name = NULL},
};
