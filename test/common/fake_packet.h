/* SPDX-License-Identifier: BSD-3-Clause */
/* The packets of the fake transport: their mailboxes, their delays, their order. */
#ifndef WSH_TEST_FAKE_PACKET_H
#define WSH_TEST_FAKE_PACKET_H

#include "test/common/fake_transport.h"

enum fake_kind { FAKE_PUT, FAKE_GET, FAKE_AMO, FAKE_SIGNAL, FAKE_KINDS };

struct fake_ctx {
    struct wsh_tctx base;
    unsigned out[FAKE_PES][FAKE_KINDS]; /* under way */
    unsigned epoch;
    struct {
        unsigned epoch;
        bool behind; /* something was under way at the last fence */
    } peer[FAKE_PES];
};

/* An operation on its way to the target, or its end on the way back. */
struct fake_packet {
    struct fake_packet *next;
    struct fake_ctx *ctx;
    int from, to;
    unsigned long number; /* among all packets */
    bool returning;
    enum fake_kind kind;
    char *at;    /* at the target */
    void *local; /* source, or where a get or an old value goes */
    size_t len;
    struct wsh_amo amo;
    char *sig_at;
    struct wsh_done *done;
    uint64_t old;
    char *data; /* what travels */
};

struct fake_tp {
    struct wsh_tp base;
    int me;
    bool connected[FAKE_PES];
    size_t room_used;
};

static inline struct fake_tp *fake_of(struct wsh_tctx *tctx)
{
    return (struct fake_tp *)tctx->tp;
}

/*
 * Sends a copy of `packet` with its `data` (len bytes, or NULL) to packet->to; `fenced`: not before what the last fence
 * covers. 0, -EAGAIN or -ENOMEM.
 */
int fake_send(struct wsh_tctx *tctx, const struct fake_packet *packet, const void *data, bool fenced);
/* Operations of the context under way to `pe`. */
size_t fake_out_to(const struct fake_ctx *ctx, int pe);
/* Opens one of the packets that lie in the mailbox of `me`, perhaps. > 0: did. */
int fake_open_one(int me);

#endif
