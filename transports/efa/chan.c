/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the stream of numbered messages to and from one peer. Pure: no libfabric. */
#include "transports/efa/chan.h"

#include <errno.h>
#include <stdlib.h>

int wsh_efa_chan_init(struct wsh_efa_chan *chan, uint32_t window, uint32_t peer_window)
{
    *chan = (struct wsh_efa_chan){.window = window, .peer_window = peer_window};
    chan->ring = calloc(window, sizeof *chan->ring);
    chan->held = calloc(peer_window, sizeof *chan->held);
    if (chan->ring && chan->held)
        return 0;
    wsh_efa_chan_fini(chan);
    return -ENOMEM;
}

void wsh_efa_chan_fini(struct wsh_efa_chan *chan)
{
    free(chan->ring);
    free(chan->held);
    chan->ring = NULL;
    chan->held = NULL;
}

void wsh_efa_chan_send(struct wsh_efa_chan *chan, const struct wsh_efa_sent *sent)
{
    struct wsh_efa_sent *slot = &chan->ring[chan->sent % chan->window];

    *slot = *sent;
    slot->seq = chan->sent;
    slot->used = true;
    chan->sent++;
}

int wsh_efa_chan_ack(struct wsh_efa_chan *chan, uint32_t ack, wsh_efa_chan_complete complete, void *arg)
{
    if ((int32_t)(ack - chan->acked) <= 0)
        return 0; /* overtaken by a later one */
    if (ack - chan->acked > chan->sent - chan->acked)
        return -EPROTO;
    while (chan->acked != ack) {
        struct wsh_efa_sent *slot = &chan->ring[chan->acked++ % chan->window];

        if (slot->fetch)
            continue;
        slot->used = false;
        complete(arg, slot);
    }
    return 0;
}

int wsh_efa_chan_reply(struct wsh_efa_chan *chan, uint32_t seq, struct wsh_efa_sent *sent)
{
    struct wsh_efa_sent *slot = &chan->ring[seq % chan->window];

    if (!slot->used || !slot->fetch || slot->seq != seq)
        return -EPROTO;
    *sent = *slot;
    slot->used = false;
    return 0;
}

enum wsh_efa_arrival wsh_efa_chan_arrive(struct wsh_efa_chan *chan, uint32_t seq, void *msg)
{
    uint32_t ahead = seq - chan->applied;
    void **slot = &chan->held[seq % chan->peer_window];

    if (ahead == 0)
        return EFA_APPLY;
    if (ahead >= chan->peer_window || *slot)
        return EFA_BAD;
    *slot = msg;
    return EFA_HELD;
}

void *wsh_efa_chan_applied(struct wsh_efa_chan *chan)
{
    void **slot = &chan->held[++chan->applied % chan->peer_window];
    void *msg = *slot;

    *slot = NULL;
    return msg;
}
